import Foundation
import MockEndorser
import ServiceLifecycle
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTransport
import Synchronization
import Testing

@testable import Starwatch

/// Digests of many accounts: each has its own.
@Suite(.timeLimit(.minutes(5))) struct FleetDigestTests {
    private static let first = TestAccount.ethr
    private static let second = TestAccount.other
    private static let name = DigestBench.name

    /// Content that a host program has for some accounts only.
    private struct News: ContentFetcher {
        struct Broken: Error {}

        let name = "news"

        func content(for request: ContentRequest) async throws -> ContentAnswer {
            guard request.account == second else { throw Broken() }
            return .content(#"{"count": 5, "who": "Bob"}"#)
        }
    }

    /// Makes an agent for two accounts, with one digest at 13:00 UTC, an hour after its clock starts. Polls rest meanwhile.
    private static func withTwo(
        dependencies: AgentDependencies = AgentDependencies(),
        _ change: (inout AgentOptions) -> Void = { _ in },
        _ body: (World, Agent) async throws -> Void
    ) async throws {
        var dependencies = dependencies
        dependencies.network = { [network = dependencies.network] http in network(PatientTransport(transport: http)) }
        try await World.with(.endorser, clock: .waiting) { [dependencies] world in
            world.mock.content = #"{"count": 3, "who": "Ada"}"#
            let agent = try await world.agentOfMany(dependencies: dependencies) { options in
                options.polls[0].timing = .every(.seconds(7200))
                options.digests = [digest(fetch: world.mock.url)]
                change(&options)
            }
            try await add([first, second], to: agent, in: world)
            try await body(world, agent)
        }
    }

    private static func digest(fetch url: String) -> DigestOptions {
        var digest = DigestOptions(name: name, fetch: FetchOptions(url: url + "/content"))
        digest.times = [DayTime("13:00")!]
        digest.timezone = "UTC"
        digest.body = "{{count}} new for {{who}}"
        return digest
    }

    private static func add(_ accounts: [DID], to agent: Agent, in world: World) async throws {
        let entries = zip(accounts, world.mock.planIDs).map {
            AccountAdditions.Entry(did: $0.rawValue, stars: [$1])
        }
        let added = try await agent.perform(ControlAPI.addAccounts, AccountAdditions(accounts: entries))
        #expect(added.accounts.allSatisfy { $0.result == "added" })
    }

    /// Lets time pass until a moment of the first day, then visits the accounts that are due.
    @discardableResult
    private static func visit(at text: String, _ agent: Agent, in world: World) async -> Int {
        let time = DayTime(text)!
        let target = ManualClock.start + .seconds((time.hour - 12) * 3600 + time.minute * 60)
        return await agent.visitAll(after: max(target - world.clock.now, .zero), on: world.clock)
    }

    /// The accounts that got a digest, by their pseudonyms, in the order of delivery.
    private static func receivers(in world: World) throws -> [String] {
        try world.notifications.filter { $0.poll == name.rawValue }.map { $0.account ?? "nobody" }
    }

    private static func pseudonyms(_ accounts: [DID], by agent: Agent) -> Set<String> {
        Set(accounts.map(agent.process.pseudonym.hash))
    }

    private static func rows(of account: DID, in agent: Agent) async throws -> [DigestState.Row] {
        try await agent.store.digests.state(of: account, since: ManualClock.start).rows
    }

    @Test func aDigestComesToEachAccountOnceAtItsTime() async throws {
        try await Self.withTwo { world, agent in
            #expect(await Self.visit(at: "12:01", agent, in: world) == 2)
            // They rest until its fetch is due.
            #expect(await Self.visit(at: "12:54", agent, in: world) == 0)
            #expect(await Self.visit(at: "12:55", agent, in: world) == 2)
            try #expect(Self.receivers(in: world).isEmpty)
            #expect(await Self.visit(at: "12:59", agent, in: world) == 0)
            #expect(await Self.visit(at: "13:00", agent, in: world) == 2)
            for time in ["13:01", "14:00", "15:00"] { await Self.visit(at: time, agent, in: world) }
            let receivers = try Self.receivers(in: world)
            #expect(receivers.count == 2)
            #expect(Set(receivers) == Self.pseudonyms([Self.first, Self.second], by: agent))
            try #expect(Set(world.notifications.map(\.id)).count == 2)
            for account in [Self.first, Self.second] {
                let rows = try await Self.rows(of: account, in: agent)
                #expect(rows.filter { $0.row.status == .shown }.count == 1)
                // That of the next day is armed.
                #expect(rows.contains { $0.row.status == .scheduled && $0.row.arming != nil })
            }
        }
    }

    /// The requests are the configuration's, and the server of the content has limits.
    @Test func manyAccountsOfOneMomentShareARequest() async throws {
        try await Self.withTwo { world, agent in
            let others = (0..<20).map { DID("did:ethr:0x" + String(repeating: "0", count: 38) + "\($0 + 10)")! }
            try await Self.add(others, to: agent, in: world)
            #expect(await Self.visit(at: "12:01", agent, in: world) == 22)
            #expect(world.mock.requestCount(of: .content) == 1)
            await Self.visit(at: "12:55", agent, in: world)
            #expect(world.mock.requestCount(of: .content) == 2)
            await Self.visit(at: "13:00", agent, in: world)
            #expect(world.mock.requestCount(of: .content) == 2)
            try #expect(Self.receivers(in: world).count == 22)
            let page = await agent.page()
            #expect(page["starwatch_digest_prefetches_total", ["outcome": "not_modified"]] == 22)
            #expect(page["starwatch_digest_deliveries_total", ["status": "shown"]] == 22)
        }
    }

    /// The first request for content waits here from ``close()`` until ``open()``.
    private final class Barrier: HTTPTransport {
        let http = Mutex<(any HTTPTransport)?>(nil)
        let limits = Mutex<[Duration]>([])
        let arrival = Promise<Void>()
        private let opening = Promise<Void>()
        private let isClosed = Atomic(false)

        func close() { isClosed.store(true, ordering: .relaxed) }
        func open() { opening.fulfil(()) }

        func exchange(_ request: HTTPRequest) async -> HTTPExchange {
            if request.url.hasSuffix("/content") {
                limits.withLock { $0.append(request.timeout ?? .zero) }
                if isClosed.exchange(false, ordering: .relaxed) {
                    arrival.fulfil(())
                    _ = await opening.value()
                }
            }
            return await http.withLock(\.self)!.exchange(request)
        }

        func shutdown() { http.withLock(\.self)?.shutdown() }
    }

    /// As ``withTwo(dependencies:_:_:)``, at the time of the fetches, whose first one waits.
    private static func withBarrier(_ body: (World, Agent, Barrier) async throws -> Void) async throws {
        let barrier = Barrier()
        var dependencies = AgentDependencies()
        dependencies.network = { http in
            barrier.http.withLock { $0 = http }
            return barrier
        }
        try await Self.withTwo(dependencies: dependencies) { world, agent in
            await Self.visit(at: "12:01", agent, in: world)
            world.clock.advance(by: DigestBench.day - .seconds(300) - world.clock.now)
            barrier.close()
            try await body(world, agent, barrier)
        }
    }

    private static func prefetch(of account: DID, in agent: Agent) async throws -> DigestRow.Prefetch? {
        try await rows(of: account, in: agent).first { $0.row.occurrence.fireAt == DigestBench.day }?.row.prefetch
    }

    private static func content(of account: DID, in agent: Agent) async throws -> StoredContent? {
        let source = try #require(agent.process.parts.digests.first?.source)
        return try await agent.store.digests.content(source: source, account: account)
    }

    /// Otherwise each account would wait for a server that is down, or that asked for a wait, and keep polls waiting.
    @Test(arguments: [(MockFault.status(500), 2), (.rateLimited(retryAfter: .seconds(60)), 1)])
    func aFailureServesTheAccountsThatComeSoonAfterIt(fault: MockFault, requests: Int) async throws {
        try await Self.withTwo { world, agent in
            let third = DID("did:ethr:0x" + String(repeating: "3", count: 40))!
            try await Self.add([third], to: agent, in: world)
            await Self.visit(at: "12:01", agent, in: world)
            let before = world.mock.requestCount(of: .content)
            world.mock.setStickyFault(fault, at: .content)
            world.clock.advance(by: DigestBench.day - .seconds(300) - world.clock.now)
            let service = try #require(agent.fleet)
            let leases = await service.claim()
            #expect(leases.count == 3)
            for lease in leases.prefix(2) { await service.visit(lease) }
            #expect(world.mock.requestCount(of: .content) == before + 1)
            world.clock.advance(by: .seconds(11))
            await service.visit(leases[2])
            #expect(world.mock.requestCount(of: .content) == before + requests)
            for lease in leases { try #expect(await Self.prefetch(of: lease.account, in: agent) == .failed) }
        }
    }

    @Test func anAccountWithLittleTimeFailsTheFetchOfNoOther() async throws {
        try await Self.withBarrier { world, agent, barrier in
            let fetcher = try #require(AccountRuntime(of: Self.first, in: agent.process).digests?.fetcher)
            let digest = try #require(agent.process.parts.digests.first)
            @Sendable func fetch(for account: DID, within limit: Duration) async -> DigestPrefetchOutcome {
                let occurrence = DigestOccurrence(
                    digest: Self.name,
                    slot: "slot",
                    fireAt: world.clock.now + limit
                )
                let fetch = DigestService.Pass.Fetch(
                    digest: Self.name,
                    occurrence: occurrence,
                    account: account,
                    generation: 1
                )
                return await fetcher.fetch(digest, for: fetch, stored: nil).end.outcome
            }
            async let short = fetch(for: Self.first, within: .seconds(1))
            _ = await barrier.arrival.value()
            async let long = fetch(for: Self.second, within: .seconds(300))
            await world.clock.sleepers(atLeast: 2)
            world.clock.advance(by: .seconds(1))
            #expect(await short == .timeout)
            barrier.open()
            #expect(await long == .fetched)
            #expect(barrier.limits.withLock { $0 }.allSatisfy { $0 == DigestFetcher.timeout })
        }
    }

    @Test func sharedContentIsAsOldAsItsRequest() async throws {
        try await Self.withTwo { world, agent in
            await Self.visit(at: "12:01", agent, in: world)
            world.clock.advance(by: DigestBench.day - .seconds(300) - world.clock.now)
            let (service, asked) = (try #require(agent.fleet), world.clock.now)
            for lease in await service.claim() {
                await service.visit(lease)
                world.clock.advance(by: .seconds(20))
            }
            #expect(world.mock.requestCount(of: .content) == 2)
            for account in [Self.first, Self.second] {
                try #expect(await Self.content(of: account, in: agent)?.validatedAt == asked)
            }
        }
    }

    @Test func aFetchByHandWaitsForNoRequestFromBefore() async throws {
        try await Self.withBarrier { world, agent, barrier in
            let service = try #require(agent.fleet)
            let lease = try #require(await service.claim().first { $0.account == Self.first })
            async let visit: Void = service.visit(lease)
            _ = await barrier.arrival.value()
            world.mock.content = #"{"count": 4, "who": "Eve"}"#
            var caller = Operator.program
            caller.account = Self.second
            _ = try await agent.topics.perform(ControlAPI.fetchDigest, Self.name.rawValue, for: caller)
            try #expect(await Self.content(of: Self.second, in: agent)?.payload.contains("Eve") == true)
            barrier.open()
            await visit
        }
    }

    @Test func anAccountThatIsNotServedAnyMoreLeavesNoMemory() async throws {
        try await Self.withTwo { world, agent in
            let service = try #require(agent.fleet)
            func known() -> Set<DID> { service.memories.withLock { Set($0.keys) } }
            await Self.visit(at: "12:01", agent, in: world)
            #expect(known() == [Self.first, Self.second])
            _ = try await agent.perform(ControlAPI.removeAccount, IdentityRemoval(did: Self.second.rawValue))
            #expect(known() == [Self.first])
            world.clock.advance(by: DigestBench.day - .seconds(300) - world.clock.now)
            let lease = try #require(await service.claim().first)
            // Removed during its visit.
            _ = try await agent.perform(ControlAPI.removeAccount, IdentityRemoval(did: Self.first.rawValue))
            await service.visit(lease)
            #expect(await service.claim().isEmpty)
            #expect(known() == [])
        }
    }

    /// A reload ends it, or a lost lease.
    @Test func aFetchThatWasCancelledIsMadeAgain() async throws {
        try await Self.withBarrier { world, agent, barrier in
            let service = try #require(agent.fleet)
            let lease = try #require(await service.claim().first { $0.account == Self.first })
            async let visit: Void = service.visit(lease)
            _ = await barrier.arrival.value()
            await service.residents.runtime(of: Self.first)?.abort()
            barrier.open()
            await visit
            try #expect(await Self.prefetch(of: Self.first, in: agent) == .succeeded)
        }
    }

    @Test func aKillBetweenTheStepsOfADigestRepeatsNone() async throws {
        try await Self.withTwo { world, agent in
            let options = agent.options
            await Self.visit(at: "12:01", agent, in: world)
            // Killed while they are armed, and nothing is released.
            await Self.visit(at: "12:55", agent, in: world)
            let armed = try await Self.rows(of: Self.first, in: agent).map(\.token)
            let second = try await world.agent { $0 = options }
            // Killed after the first account's digest was handed over, and before it was delivered.
            world.clock.advance(by: DigestBench.day - world.clock.now)
            let runtime = AccountRuntime(of: Self.first, in: second.process)
            #expect(await runtime.digests?.pass().fired == 1)
            let third = try await world.agent { $0 = options }
            for time in ["13:01", "13:02"] { await Self.visit(at: time, third, in: world) }
            let receivers = try Self.receivers(in: world)
            #expect(receivers.count == 2)
            #expect(Set(receivers) == Self.pseudonyms([Self.first, Self.second], by: third))
            try #expect(Set(world.notifications.map(\.id)).isSuperset(of: armed))
            // Each occurrence has one fetch.
            #expect(world.mock.requestCount(of: .content) == 2)
        }
    }

    @Test func theContentOfOneAccountThatIsBrokenStopsNoOther() async throws {
        var dependencies = AgentDependencies()
        dependencies.fetchers = [News()]
        try await Self.withTwo(dependencies: dependencies) { options in
            var digest = DigestOptions(name: Self.name, fetcher: "news")
            (digest.times, digest.timezone) = ([DayTime("13:00")!], "UTC")
            options.digests = [digest]
        } _: { world, agent in
            for time in ["12:01", "12:55", "13:00"] { await Self.visit(at: time, agent, in: world) }
            try #expect(Self.receivers(in: world) == [agent.process.pseudonym.hash(Self.second)])
            let failed = try await Self.rows(of: Self.first, in: agent)
            #expect(failed.contains { $0.code == .noContent })
        }
    }

    @Test func aRemovedAccountGetsNoneAndLeavesNothing() async throws {
        try await Self.withTwo { world, agent in
            for time in ["12:01", "12:55"] { await Self.visit(at: time, agent, in: world) }
            _ = try await agent.perform(ControlAPI.removeAccount, IdentityRemoval(did: Self.second.rawValue))
            await Self.visit(at: "13:00", agent, in: world)
            try #expect(Self.receivers(in: world) == [agent.process.pseudonym.hash(Self.first)])
            #expect(try await Self.rows(of: Self.second, in: agent).isEmpty)
        }
    }

    /// Otherwise a poll of an account would cost several times as much.
    @Test func aVisitWithoutADigestThatIsDueReadsNone() async throws {
        let accesses = StoreAccesses()
        try await Self.withTwo(dependencies: accesses.dependencies) { options in
            options.polls[0].timing = .every(.seconds(60))
        } _: { world, agent in
            for time in ["12:01", "12:03"] { await Self.visit(at: time, agent, in: world) }
            accesses.clear()
            #expect(await Self.visit(at: "12:05", agent, in: world) == 2)
            #expect(accesses.all.filter { $0 != .finishCycle } == [.lease, .lease])
        }
    }

    /// They would rest beyond its time.
    @Test func aDigestThatIsNewInTheConfigurationFindsAccountsThatRest() async throws {
        try await Self.withTwo { options in
            options.digests = []
        } _: { world, agent in
            #expect(await Self.visit(at: "12:01", agent, in: world) == 2)
            #expect(await Self.visit(at: "12:20", agent, in: world) == 0)
            var options = agent.options
            options.digests = [Self.digest(fetch: world.mock.url)]
            options.digests[0].times = [DayTime("12:30")!]
            let next = try await world.agent { $0 = options }
            for time in ["12:21", "12:25", "12:30"] { await Self.visit(at: time, next, in: world) }
            try #expect(Self.receivers(in: world).count == 2)
        }
    }

    @Test func aClockThatWasAheadHidesNoDigest() async throws {
        try await Self.withTwo { world, agent in
            await Self.visit(at: "12:01", agent, in: world)
            world.clock.setWall(to: ManualClock.start + .days(2))
            await agent.visitAll(after: .zero, on: world.clock)
            world.clock.setWall(to: ManualClock.start + .seconds(300))
            for time in ["12:10", "12:55", "13:00"] { await Self.visit(at: time, agent, in: world) }
            try #expect(Self.receivers(in: world).count == 2)
        }
    }

    @Test func aServerThatMustNotBeAskedKeepsNoDigestWaiting() async throws {
        let other = MockServer()
        other.content = #"{"count": 3, "who": "Ada"}"#
        try await other.start()
        try await Self.withTwo { options in
            options.digests[0].fetch.url = other.url + "/content"
        } _: { world, agent in
            await Self.visit(at: "12:01", agent, in: world)
            let until = world.clock.now + .seconds(7200)
            await agent.runtime.account.gate.hold(until: until, now: world.clock.now)
            for time in ["12:55", "13:00"] { await Self.visit(at: time, agent, in: world) }
            try #expect(Self.receivers(in: world).count == 2)
        }
        try await other.stop()
    }

    @Test func changesOfAPollAreThoseOfTheAccount() async throws {
        try await Self.withTwo { options in
            var digest = DigestOptions(name: Self.name, poll: options.polls[0].name)
            (digest.times, digest.timezone, digest.body) = ([DayTime("13:00")!], "UTC", "{{count}}: {{names}}")
            options.digests = [digest]
        } _: { world, agent in
            await Self.visit(at: "12:01", agent, in: world)
            world.mock.publish([MockChange(planID: world.mock.planIDs[1], name: "Elm")])
            for time in ["12:55", "13:00"] { await Self.visit(at: time, agent, in: world) }
            let pseudonym = agent.process.pseudonym.hash(Self.second)
            let digests = try world.notifications.filter { $0.poll == Self.name.rawValue }
            #expect(digests.first { $0.account == pseudonym }?.body.contains("1: ") == true)
            #expect(digests.first { $0.account != pseudonym }?.body == "0: ")
        }
    }

    @Test func aVerbOfADigestNeedsTheAccountAndWorksForIt() async throws {
        try await Self.withTwo { world, agent in
            await Self.visit(at: "12:01", agent, in: world)
            let refusal = await #expect(throws: ControlError.self) {
                try await agent.perform(ControlAPI.fetchDigest, Self.name.rawValue)
            }
            #expect(refusal?.message == ControlOperation.problemWithoutAccount)
            await #expect(throws: ControlError.self) {
                try await agent.perform(ControlAPI.showDigest, Self.name.rawValue)
            }
            var caller = Operator.program
            caller.account = Self.second
            let fetched = try await agent.topics.perform(ControlAPI.fetchDigest, Self.name.rawValue, for: caller)
            #expect(fetched.outcome == .notModified && world.mock.requestCount(of: .content) == 2)
            let shown = try await agent.topics.perform(ControlAPI.showDigest, Self.name.rawValue, for: caller)
            #expect(shown.state == "delivered")
            try #expect(Self.receivers(in: world) == [agent.process.pseudonym.hash(Self.second)])
            let own = try await agent.topics.perform(ControlAPI.listDigests, (), for: caller).digests
            #expect(own.first?.occurrences.map(\.status) == ["scheduled", "scheduled"])
            // Those of the configuration, without the results of an account.
            let all = try await agent.perform(ControlAPI.listDigests).digests
            #expect(all.first?.occurrences.map(\.status) == ["planned"])
            let status = try await agent.perform(ControlAPI.status).digests[Self.name.rawValue]
            #expect(status?.nextRun == DigestBench.day.iso8601 && status?.lastRun == nil)
        }
    }

    @Test func theEventsOfAllAccountsGoToTheCallbacksOfTheProcess() async throws {
        try await Self.withTwo { options in
            options.callbacks.ackDelivery = FetchOptions(url: options.server.url + "/callback")
        } _: { world, agent in
            for time in ["12:01", "12:55", "13:00"] { await Self.visit(at: time, agent, in: world) }
            try #expect(await agent.store.events.count() == 2)
            #expect(agent.worker(SoleVisit.self) != nil)
            _ = await agent.runtime.callbacks?.pass()
            let bodies = world.mock.requests(to: .callback).map { String(decoding: $0.body, as: UTF8.self) }
            for name in Self.pseudonyms([Self.first, Self.second], by: agent) {
                #expect(bodies.filter { $0.contains(name) }.count == 1)
            }
        }
    }

    @Test func eachAccountHasItsOwnMomentWithinTheWindow() async throws {
        try await Self.withTwo { options in
            options.digests[0].window = .seconds(3600)
        } _: { world, agent in
            await Self.visit(at: "12:01", agent, in: world)
            var moments: [Timestamp] = []
            for account in [Self.first, Self.second] {
                moments += try await Self.rows(of: account, in: agent).map(\.row.occurrence.fireAt)
            }
            #expect(Set(moments).count == 2)
            #expect(moments.allSatisfy { $0 >= DigestBench.day && $0 <= DigestBench.day + .seconds(3600) })
        }
    }

    @Test func aDigestGoesToTheAddressOfItsAccount() async throws {
        try await AddressBench.with(clock: .waiting) { options in
            var digest = DigestOptions(name: Self.name, fetch: FetchOptions(url: options.server.url + "/content"))
            (digest.times, digest.timezone) = ([DayTime("13:00")!], "UTC")
            digest.onMissing = .fallback
            options.digests = [digest]
        } _: { bench in
            try await bench.add(AddressBench.first, plan: 0, at: bench.address(0))
            try await bench.add(AddressBench.second, plan: 1, at: nil)
            for time in ["12:01", "12:55", "13:00"] { await Self.visit(at: time, bench.agent, in: bench.world) }
            #expect(bench.receivers.map(\.receivedNotifications.count) == [1, 0])
            let rows = try await Self.rows(of: AddressBench.second, in: bench.agent)
            #expect(rows.contains { $0.code == .noSink })
        }
    }
}
