import Foundation
import GRDB
import MockEndorser
import ProgramTestKit
import ServiceLifecycle
import StarwatchCore
import StarwatchTransport
import Synchronization
import Testing

@testable import Starwatch
@testable import StarwatchStore

/// The agent as a library: what a host program does with it.
@Suite struct AgentHostTests {
    @Test(.timeLimit(.minutes(5)))
    func newsThatIsAskedForAfterTheEndEndsAtOnce() async {
        let desk = EventBroadcaster()
        let early = desk.listen()
        desk.close()
        for await _ in early {}
        for await _ in desk.listen() {}
    }

    @Test func theVerbsOfAHostDoWhatTheyDoOnTheControlSocket() async throws {
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            #expect(try await agent.activeIdentity() == world.did)
            var news = agent.news().makeAsyncIterator()
            let poll = PollName(World.starred)!
            #expect(try await agent.runNow(poll) == .bootstrapped)
            #expect(await news.next() == .poll(poll, .bootstrapped, newChanges: 0))
            world.mock.publish(count: 3)
            #expect(try await agent.runNow(poll) == .changed)
            #expect(await news.next() == .poll(poll, .changed, newChanges: 3))
            #expect(try world.announced.count == 3)

            #expect(try await agent.updateStars(["a", "b", "a"]) == ["a", "b"])
            try await agent.setStarsOptedOut(true)
            #expect(try await agent.runNow(poll) == nil)
            #expect(await news.next() == .skipped(poll, .optedOut))
            try await agent.setStarsOptedOut(false)
            #expect(try await agent.runNow(poll) != nil)
            _ = await news.next()

            try await agent.setActiveIdentity(nil)
            #expect(await news.next() == .identityChanged(nil))
            #expect(try await agent.activeIdentity() == nil)
            await #expect(throws: AgentError.self) { try await agent.updateStars(["a"]) }
            await #expect(throws: AgentError.self) { try await agent.runNow(PollName("nothing")!) }
            #expect(await agent.state().identity == nil)
            await world.stopAgent()
            #expect(await news.next() == nil)
        }
    }

    /// The host has one key for what it stores itself and for the agent.
    @Test func theKeyOfAHostSealsItsDatabaseAndAnotherIsRefusedInOneSentence() async throws {
        try await World.with(.endorser) { world in
            let path = world.folder.path("starwatch.db")
            let host = try DatabaseQueue(path: path)
            try await host.writeWithoutTransaction { db in
                try db.execute(sql: "CREATE TABLE notes (text TEXT);" + HostDatabase.statements()!)
                try db.execute(sql: "INSERT INTO notes VALUES ('mine')")
            }
            let key = DatabaseKey()
            func start(_ key: DatabaseKey?) async throws -> Agent {
                try await world.agent {
                    $0.storage.owner = .host
                    $0.security.masterKey = key
                }
            }
            let agent = try await start(key)
            #expect(try await agent.activeIdentity() == world.did)
            #expect(try await agent.runNow(PollName(World.starred)!) == .bootstrapped)
            await world.stopAgent()
            let text = ["", "-wal"].compactMap { FileManager.default.contents(atPath: path + $0) }
                .map { String(decoding: $0, as: Unicode.ASCII.self) }.joined()
            #expect(!text.contains(world.did.rawValue) && !text.contains(world.mock.planIDs[0]))
            let wrong = await #expect(throws: AgentError.self) { try await start(DatabaseKey()) }
            #expect(wrong?.message.contains("encrypted with the master key \(key.id)") == true)
            #expect(wrong?.message.contains("nothing was written") == true)
            let none = await #expect(throws: AgentError.self) { try await start(nil) }
            #expect(none?.message.contains("no master key is configured") == true)
            // The host stores the text, and gives it at the next start.
            let kept = try #require(DatabaseKey(base64: key.base64 + "\n"))
            #expect(kept == key && !"\(kept)".contains(key.base64) && Mirror(reflecting: kept).children.isEmpty)
            #expect(DatabaseKey(base64: "short") == nil)
            #expect(try await start(kept).activeIdentity() == world.did)
            await world.stopAgent()
            #expect(try await host.read { try String.fetchAll($0, sql: "SELECT text FROM notes") } == ["mine"])
        }
    }

    @Test func aHostEncryptsADatabaseThatItHasUsedWithoutAKey() async throws {
        try await World.with(.endorser) { world in
            _ = try await world.agent().runNow(PollName(World.starred)!)
            await world.stopAgent()
            var options = world.options
            options.security.masterKey = DatabaseKey()
            try await HostDatabase.encrypt(options)
            let data = try #require(FileManager.default.contents(atPath: options.storage.path))
            #expect(!String(decoding: data, as: Unicode.ASCII.self).contains(world.did.rawValue))
            let agent = try await world.agent { $0.security = options.security }
            #expect(try await agent.activeIdentity() == world.did)
        }
    }

    /// A host's task can block, and on the thread of requests it would hold up every one.
    @Test(.timeLimit(.minutes(5)))
    func aHostsTaskNeverContinuesOnTheThreadOfRequests() async throws {
        @Sendable func thread() -> String? {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
        }
        try await World.with(.endorser) { world in
            let agent = try await world.agent()
            let executor = try #require(agent.process.parts.http.executor)
            let driver = await Task(executorPreference: executor) { thread() }.value
            let gate = agent.runtime.account.gate
            // While the database hangs, the status has nothing but the gate, which cycles use on that thread.
            agent.store.health.begin(at: .now - longestWait * 2)
            let visits = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask(executorPreference: executor) {
                        while !Task.isCancelled { for _ in 0..<100 { _ = await gate.shownCircuit } }
                        return 0
                    }
                }
                let hosts = (0..<4).map { _ in
                    Task {
                        var visits = 0
                        for _ in 0..<200 {
                            _ = await agent.state()
                            if thread() == driver { visits += 1 }
                        }
                        for _ in 0..<10 {
                            _ = await agent.poll(PollName(World.starred)!)
                            if thread() == driver { visits += 1 }
                        }
                        return visits
                    }
                }
                var visits = 0
                for host in hosts { visits += await host.value }
                group.cancelAll()
                return visits
            }
            #expect(driver != nil && visits == 0)
        }
    }

    @Test func aHostsRequestSharesTheAgentsServerIdentityAndLimits() async throws {
        struct Plans: Codable, Sendable { var data: [String]? }
        try await World.with(.canonical) { world in
            let agent = try await world.agent()
            _ = try await agent.runNow(PollName(World.starred)!)
            let context = try await agent.pollingContext()
            #expect(context.account == world.did && context.server == world.mock.url)
            world.mock.script(.rateLimited(retryAfter: .seconds(500)), at: .plansChanged)
            #expect(try await agent.runNow(PollName(World.starred)!) == .deferred)
            let result = try await agent.execute(PollRequest<Never, Plans>(endpoint: "/api/v2/time"))
            #expect(result.error?.code == .rateLimitExceeded)
            world.clock.advance(by: .seconds(600))
            let page = await agent.page()
            #expect(page["starwatch_host_polls_total", ["outcome": "failed"]] == 1)
            #expect(page["starwatch_host_polls_total", ["outcome": "ok"]] == 0)
            #expect(page["starwatch_host_throttled_total", ["source": "server"]] == 1)
            #expect(page["starwatch_host_requests_total", ["result": "ok"]] == 0)
        }
    }

    @Test func theWatermarksOfAHostOutliveARestart() async throws {
        try await World.with(.endorser) { world in
            var agent = try await world.agent()
            #expect(try await agent.storage.advance("feed", from: nil, to: "7"))
            agent = try await world.agent()
            #expect(try await agent.storage.watermark(of: "feed") == "7")
        }
    }

    // MARK: - Sinks

    /// A sink of a host's that does as it is told.
    private final class Inbox: HostSink {
        let name = "inbox"
        let seen = Mutex<[NotificationMessage]>([])
        let error = Mutex<(any Error & Sendable)?>(nil)

        func deliver(_ notification: NotificationMessage) async throws {
            seen.withLock { $0.append(notification) }
            if let error = error.withLock({ $0 }) { throw error }
        }
    }

    /// A sink that never answers, and does not heed cancellation.
    private struct Hanging: HostSink {
        let name = "hanging"

        func deliver(_ notification: NotificationMessage) async throws {
            await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        }
    }

    private func agent(_ world: World, sinks: [any HostSink]) async throws -> Agent {
        // A sink's time limit must not pass by itself.
        world.clock.setMode(.waiting)
        var dependencies = AgentDependencies()
        dependencies.sinks = sinks
        var options = world.options
        options.polls[0].bootstrap = .beginning
        options.delivery.sinks = []
        return try await Agent(
            options: options,
            time: world.clock,
            logSinks: [world.log],
            dependencies: dependencies.patient,
            random: { 0.5 }
        )
    }

    @Test func aHostsSinkIsTriedUntilItTakesTheNotification() async throws {
        struct Busy: Error {}
        try await World.with(.endorser) { world in
            let inbox = Inbox()
            inbox.error.withLock { $0 = Busy() }
            let agent = try await agent(world, sinks: [inbox])
            world.mock.publish(count: 1)
            _ = try await agent.runNow(PollName(World.starred)!)
            #expect(try await agent.rows([.claimed]).count == 1)
            inbox.error.withLock { $0 = nil }
            world.clock.advance(by: .seconds(5))
            _ = await agent.runtime.dispatcher.pass()
            let seen = inbox.seen.withLock { $0 }
            #expect(seen.count == 2 && seen[0] == seen[1] && seen[0].count == 1)
            #expect(try await agent.rows([.claimed]).isEmpty)
            let page = await agent.page()
            #expect(page["starwatch_delivery_attempts_total", ["sink": "inbox", "result": "unavailable"]] == 1)
            #expect(page["starwatch_delivery_attempts_total", ["sink": "inbox", "result": "ok"]] == 1)
            await agent.close()
        }
    }

    @Test func aHostsSinkThatHangsHoldsNobodyUp() async throws {
        try await World.with(.endorser) { world in
            let agent = try await agent(world, sinks: [Hanging()])
            world.mock.publish(count: 1)
            _ = await agent.runtime.pollService.pass(agent.runtime.polls[0], runID: "run_of_the_test")
            async let pass = agent.runtime.dispatcher.pass()
            await world.clock.sleepers(atLeast: 1)
            world.clock.advance(by: .seconds(30))
            _ = await pass
            #expect(try await agent.rows([.claimed]).count == 1)
            let page = await agent.page()
            #expect(page["starwatch_delivery_attempts_total", ["sink": "hanging", "result": "timeout"]] == 1)
            await agent.close()
        }
    }

    @Test func aFeedThatIsFullTakesNoFurtherNotificationAndLosesNone() async throws {
        func message(_ n: Int) -> NotificationMessage {
            NotificationMessage(
                feature: .starredProjects,
                id: "ntf_\(n)",
                runID: "run_1",
                messages: .english,
                createdAt: ManualClock.start
            )
        }
        let feed = NotificationFeed()
        for n in 1...1000 { try await feed.deliver(message(n)) }
        await #expect(throws: (any Error).self) { try await feed.deliver(message(1001)) }
        var notifications = feed.notifications.makeAsyncIterator()
        #expect(await notifications.next()?.id == "ntf_1")
        try await feed.deliver(message(1001))
        feed.finish()
        var ids: [String] = []
        while let notification = await notifications.next() { ids.append(notification.id) }
        #expect(ids == (2...1001).map { "ntf_\($0)" })
    }

    @Test func aHostsRefusalCostsATry() async throws {
        try await World.with(.endorser) { world in
            let inbox = Inbox()
            inbox.error.withLock { $0 = HostSinkRefusal() }
            let agent = try await agent(world, sinks: [inbox])
            world.mock.publish(count: 1)
            _ = try await agent.runNow(PollName(World.starred)!)
            for _ in 0..<3 {
                world.clock.advance(by: .seconds(60))
                _ = await agent.runtime.dispatcher.pass()
            }
            #expect(inbox.seen.withLock(\.count) == 3)
            #expect(try await agent.rows([.dead]).count == 1)
            await agent.close()
        }
    }

    @Test func notificationsAreASequence() async throws {
        try await World.with(.endorser) { world in
            let feed = NotificationFeed(name: "app")
            let agent = try await agent(world, sinks: [feed])
            let ids = world.mock.publish(count: 3)
            _ = try await agent.runNow(PollName(World.starred)!)
            var notifications = feed.notifications.makeAsyncIterator()
            #expect(await notifications.next()?.changes.map(\.jwtID).sorted() == ids.sorted())
            // Nobody reads any more: what comes then waits.
            feed.finish()
            world.mock.publish(count: 1)
            _ = try await agent.runNow(PollName(World.starred)!)
            #expect(try await agent.rows([.claimed]).count == 1)
            await agent.close()
        }
    }

    @Test(arguments: ["log", "server", "Not A Name"]) func aNameThatIsTakenOrNoneIsRefused(name: String) async throws {
        let folder = try TestFolder()
        var options = AgentOptions()
        options.storage.path = folder.path("starwatch.db")
        options.delivery.sinks = [SinkOptions(name: "log", kind: .log)]
        await #expect(throws: AgentError.self) {
            try await Agent(options: options, sinks: [NotificationFeed(name: name)])
        }
    }

    // MARK: - A group of the host's own

    @Test func anAgentRunsInAGroupOfTheHostsAndEndsWithIt() async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            var options = world.options
            options.polls[0].timing = .every(.seconds(30))
            let agent = try await Agent(
                options: options,
                time: world.clock,
                logSinks: [world.log],
                dependencies: AgentDependencies().patient
            )
            let group = ServiceGroup(services: [AgentService(agent)], logger: agent.process.environment.logger)
            async let run: Void = group.run()
            try await world.mock.waitForRequests(1, to: .plansChanged)
            await #expect(throws: ControlError.self) { try await agent.reload() }
            // A check of the configuration would find nothing, and no command restarts the host.
            let problem = try #require(await agent.state().problems?.first)
            #expect(problem.title.hasSuffix("This agent is part of another program; restart that instead"))
            #expect(problem.command == nil)
            #expect(await agent.state().pid == Int(getpid()))
            await group.triggerGracefulShutdown()
            try await run
            // The database is free for the next one.
            try await world.agent()
        }
    }

    @Test func aHostsOwnPollsRunWithTheAgent() async throws {
        struct Clock: Codable, Sendable {}
        try await World.with(.canonical, clock: .waiting) { world in
            let agent = try await Agent(options: world.options, time: world.clock, logSinks: [world.log])
            let (results, take) = AsyncStream.makeStream(of: Bool.self)
            try await agent.pollManager.schedule(
                PollSchedule(
                    name: "clock",
                    request: PollRequest<Never, Clock>(endpoint: "/api/v2/time"),
                    timing: .every(.seconds(60))
                ) {
                    try await agent.pollingContext()
                } handle: { result, context in
                    #expect(context.account == world.did)
                    take.yield(result.isSuccess)
                }
            )
            async let run = agent.run()
            for await isSuccess in results {
                #expect(isSuccess)
                break
            }
            agent.stop()
            _ = try await run
        }
    }

    // MARK: - A database of the host's own

    @Test func aDatabaseThatTheHostMadeIsUsedAndOneOfAnotherVersionIsNot() async throws {
        let folder = try TestFolder()
        var options = AgentOptions()
        options.storage.path = folder.path("host.db")
        options.storage.owner = .host
        await #expect(throws: AgentError.self) { try await Agent(options: options) }
        #expect(!FileManager.default.fileExists(atPath: options.storage.path))
        #expect(HostDatabase.statements()?.contains("CREATE TABLE settings") == true)
        #expect(HostDatabase.statements(from: HostDatabase.versions.upperBound) == "")
    }
}
