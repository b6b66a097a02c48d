import Dispatch
import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Healthy means that local work moves on; ready, that it can be done.
@Suite struct HealthTests {
    @Test func memoryIsComparedWithTheFirstReadingAfterTenMinutes() {
        let seen = HealthMemory()
        seen.note(residentBytes: 5, uptime: .seconds(599))
        #expect(seen.settledBytes == nil)
        seen.note(residentBytes: 6, uptime: .seconds(600))
        seen.note(residentBytes: 9, uptime: .seconds(7200))
        #expect(seen.settledBytes == 6)
    }

    /// A running agent of one poll an hour, whose clock stands.
    private func withRunningAgent(
        _ change: (inout AgentOptions) -> Void = { _ in },
        _ body: (World, Agent) async throws -> Void
    ) async throws {
        try await World.with(.endorser, clock: .waiting) { world in
            var options = world.options
            options.polls[0].timing = .every(.seconds(3600))
            change(&options)
            let agent = try await Agent(
                options: options,
                time: world.clock,
                logSinks: [world.log],
                dependencies: AgentDependencies().patient
            )
            async let next = agent.run()
            try await world.mock.waitForRequests(1, to: .plansChanged)
            await world.rest(agent)
            do { try await body(world, agent) } catch {
                agent.stop()
                _ = try await next
                throw error
            }
            agent.stop()
            #expect(try await next == nil)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func aStoreThatIsStuckMakesTheAgentUnhealthyUntilItGoesOn() async throws {
        try await withRunningAgent { world, agent in
            #expect(await agent.topics.isHealthy())
            let isFree = DispatchSemaphore(value: 0)
            agent.store.status.whenIdle { isFree.wait() }
            world.clock.advance(by: .seconds(50))
            #expect(await agent.topics.isHealthy())
            world.clock.advance(by: .seconds(20))
            #expect(await agent.topics.isHealthy() == false)
            isFree.signal()
            // The look at the store that was stuck ends, and housekeeping sleeps again.
            await world.rest(agent)
            #expect(await agent.topics.isHealthy())
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func aScheduleThatIsStuckMakesTheAgentUnhealthyThoughTheStoreAnswers() async throws {
        try await withRunningAgent { world, agent in
            // A line that nobody marks, as that of a poll whose loop hangs.
            let hung = ProgressMark.Line.poll(PollName("hung")!)
            agent.process.progress.mark(hung, at: world.clock.monotonic)
            for _ in 0..<8 {
                #expect(await agent.topics.isHealthy())
                world.clock.advance(by: .seconds(40))
                await world.rest(agent)
            }
            #expect(await agent.topics.isHealthy() == false)
            // One that waits for its turn is not stuck: those that run are looked at.
            agent.process.progress.pause(hung)
            #expect(await agent.topics.isHealthy())
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func aServerThatIsDownLeavesTheAgentHealthyAndReady() async throws {
        try await withRunningAgent { world, agent in
            try await world.mock.stop()
            for _ in 0..<12 {
                world.clock.advance(by: .seconds(600))
                await world.rest(agent)
            }
            #expect(await agent.topics.isHealthy())
            #expect(await agent.topics.notReady() == [])
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func aStoreThatFailsMakesTheAgentNotReadyUntilAWriteSucceeds() async throws {
        try await withRunningAgent { world, agent in
            #expect(await agent.topics.notReady() == [])
            await agent.store.failOnce()
            #expect(await agent.topics.notReady() == ["store_full"])
            #expect(await agent.state().reasons == ["store_full"])
            #expect(await agent.topics.isHealthy())
            // No transaction told the housekeeping of this failure.
            world.clock.advance(by: .seconds(30))
            await world.rest(agent)
            #expect(await agent.topics.notReady() == [])
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func aDatabaseThatWasDeletedMakesTheAgentNotReadyAndIsCopiedNowAndAtItsEnd() async throws {
        let folder = try TestFolder()
        let path = folder.path("starwatch.db")
        try await withRunningAgent {
            ($0.storage.path, $0.log.level) = (path, .error)
        } _: { world, agent in
            #expect(await agent.topics.notReady() == [])
            for ending in ["", "-wal", "-shm"] { try FileManager.default.removeItem(atPath: path + ending) }
            #expect(await agent.topics.notReady() == ["store_lost"])
            #expect(await agent.state().reasons == ["store_lost"])
            let page = await agent.page()
            #expect(page["starwatch_store_bytes", ["file": "database"]]?.isNaN == true)
            #expect(await agent.topics.isHealthy())
            world.clock.advance(by: .seconds(30))
            await world.rest(agent)
            await world.log.wait(for: "storage.lost")
            try FileManager.default.removeItem(atPath: path + ".rescued")
        }
        #expect(FileManager.default.fileExists(atPath: path + ".rescued"))
    }

    /// The damage is of a table that only the list of archived stars needs.
    @Test(.timeLimit(.minutes(5)))
    func aDamagedPageMakesTheAgentNotReadyUntilItsPagesAreSoundThoughOthersAreReadAndWritten() async throws {
        try await withRunningAgent { world, agent in
            let file = DatabaseOnDisk(path: world.folder.path("starwatch.db"))
            let (errors, corrupt) = ("starwatch_store_errors_total", ["kind": "corrupt"])
            try await agent.store.status.checkpoint()
            let damage = try file.damage("starred_archive")
            try file.makeStale()
            #expect(await agent.topics.notReady() == [])
            #expect(await agent.page()[errors, corrupt] == 0)

            await #expect(throws: ControlError.self) { try await agent.perform(ControlAPI.listArchivedStars).archived }
            #expect(await agent.page()[errors, corrupt] == 1)
            #expect(await agent.topics.notReady() == ["store_damaged"])
            #expect(await agent.state().reasons == ["store_damaged"])
            #expect(try await agent.storage.advance("feed", from: nil, to: "7"))
            #expect(try await agent.storage.watermark(of: "feed") == "7")
            #expect(await agent.topics.notReady() == ["store_damaged"])

            // Neither a lesser failure nor the look at the store after it makes the damage forgotten.
            await agent.store.failOnce()
            world.clock.advance(by: .seconds(2))
            await world.rest(agent)
            #expect(await agent.page()[errors, corrupt] == 2)
            #expect(await agent.topics.notReady() == ["store_damaged"])
            #expect(await agent.topics.isHealthy())

            try damage.mend()
            try file.makeStale()
            #expect(try await agent.perform(ControlAPI.listArchivedStars).archived == [])
            #expect(await agent.topics.notReady() == ["store_damaged"])
            world.clock.advance(by: .seconds(2))
            await world.rest(agent)
            #expect(await agent.topics.notReady() == [])
            #expect(await agent.page()[errors, corrupt] == 2)
        }
    }

    @Test func aSocketNameThatIsNoneIsRefused() {
        #expect(NotifySocket(name: "/run/systemd/notify") != nil)
        #expect(NotifySocket(name: "@starwatch") != nil)
        let long = "/" + String(repeating: "a", count: 200)
        for name in ["", "@", "/", "notify", "vsock:2:1234", long] { #expect(NotifySocket(name: name) == nil) }
    }

    @Test func theManagersWaitIsHalvedAndThatOfAnotherProcessIsNotOurs() {
        var environment = ["NOTIFY_SOCKET": "@starwatch", "WATCHDOG_USEC": "3000000"]
        #expect(Supervisor(environment: environment).progressInterval == .milliseconds(1500))
        environment["WATCHDOG_PID"] = "1"
        #expect(Supervisor(environment: environment).progressInterval == nil)
        environment["WATCHDOG_PID"] = nil
        for wait in ["0", "-1", "soon", ""] {
            environment["WATCHDOG_USEC"] = wait
            #expect(Supervisor(environment: environment).progressInterval == nil)
        }
        #expect(Supervisor(environment: ["WATCHDOG_USEC": "3000000"]).progressInterval == nil)
    }
}

extension Store {
    /// A transaction that fails, as on a full disk.
    fileprivate func failOnce() {
        health.failed(.full)
    }
}
