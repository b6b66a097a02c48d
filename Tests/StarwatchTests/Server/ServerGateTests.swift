import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTransport
import Synchronization
import Testing

@testable import Starwatch

@Suite struct ServerGateTests {
    private let folder: TestFolder
    private let store: Store
    private let metrics: AgentMetrics
    private let server = "http://127.0.0.1"

    init() throws {
        folder = try TestFolder()
        store = try Store(StoreOptions(path: folder.path("starwatch.db")))
        metrics = try AgentMetrics(polls: ["starred_projects"], sinks: ["file"], now: { ManualClock.start })
    }

    private final class BusyTwice: Sendable {
        private let left = Mutex(2)

        func strikes() -> Bool {
            left.withLock { left in
                left -= 1
                return left >= 0
            }
        }

        func strikeAgain() { left.withLock { $0 = 2 } }
    }

    private func makeGate(requests: Int = 100, acknowledgements: Int = 1000) -> ServerGate {
        var limits = LimitOptions()
        limits.requestsPerMinute = requests
        limits.acknowledgementsPerMinute = acknowledgements
        return ServerGate(server: server, dialect: .auto, limits: limits, store: store, metrics: metrics)
    }

    /// The most entries within any 60 s, both ends included.
    static func most(_ times: [Int64], withinMilliseconds length: Int64 = 60_000) -> Int {
        let sorted = times.sorted()
        return sorted.map { end in sorted.filter { $0 <= end && end - $0 <= length }.count }.max() ?? 0
    }

    @Test(arguments: 1...8)
    func neverMoreThanTheLimitInAnyMinute(seed: Int) async throws {
        let limit = [1, 2, 5, 17][seed % 4]
        let gate = makeGate(requests: limit)
        var random = SplitMix(state: UInt64(seed))
        var now = ManualClock.start
        var sent: [Int64] = []
        for _ in 0..<600 {
            switch try await gate.admit(account: World.key, now: now) {
            case .go: sent.append(now.milliseconds)
            case .wait(let until, let source):
                #expect(source == .client)
                #expect(until > now)
                // Whoever waits as told gets through.
                if random.next() % 3 == 0 { now = until }
            }
            now = now + .milliseconds(Int64(random.next() % 9000))
        }
        #expect(sent.count > limit)
        #expect(Self.most(sent) == limit)
        await store.close()
    }

    @Test func requestsThatStartTogetherShareOneWindow() async throws {
        let gate = makeGate(requests: 2)
        let sent = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<10 {
                group.addTask { try await gate.admit(account: World.key, now: ManualClock.start) == .go }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(sent == 2)
        await store.close()
    }

    private final class Counts: Sendable {
        let writes = Atomic(0)
        let sent = Atomic(Int64(0))
    }

    @Test func requestsThatStartTogetherAreStoredTogetherAndEachBeforeItGoes() async throws {
        let folder = try TestFolder()
        let counts = Counts()
        var options = StoreOptions(path: folder.path("starwatch.db"))
        options.onTransaction = { operation, _ in
            if operation == .finishCycle { counts.writes.add(1, ordering: .relaxed) }
        }
        let store = try Store(options)
        let stream = StreamKey(account: World.key, server: server, poll: PollName("starred_projects")!)
        _ = try await store.pollState(stream, maxUndelivered: 1)
        let gate = ServerGate(
            server: server,
            dialect: .auto,
            limits: LimitOptions(),
            store: store,
            metrics: metrics
        )
        await withTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    #expect((try? await gate.admit(account: World.key, now: ManualClock.start)) == .go)
                    let gone = counts.sent.add(1, ordering: .relaxed).newValue
                    let stored = try? await store.requestWindow(of: World.key)
                    let times = stored.map { StoredWindow.read($0).requests.times }
                    #expect(times?.last.map { $0 >= gone } == true)
                }
            }
        }
        let stored = try await store.requestWindow(of: World.key)
        #expect(stored.map { StoredWindow.read($0).requests.times.last } == 100)
        #expect((1..<50).contains(counts.writes.load(ordering: .relaxed)))
        await store.close()
    }

    @Test func everyAccountKeepsItsWindowWhileAnotherIsActive() async throws {
        let gate = makeGate(requests: 2)
        let start = ManualClock.start
        for account in [World.key, World.key, World.other] {
            #expect(try await gate.admit(account: account, now: start) == .go)
        }
        guard case .wait = try await gate.admit(account: World.key, now: start) else {
            Issue.record("The other account's request made the first one's be forgotten.")
            return
        }
        await store.close()
    }

    @Test func whatAClockThatWasAheadHasSpentShortensNoLaterWait() async throws {
        let stream = StreamKey(account: World.key, server: server, poll: PollName("starred_projects")!)
        _ = try await store.pollState(stream, maxUndelivered: 1)
        let start = ManualClock.start
        #expect(try await makeGate().admit(account: World.key, now: start + .seconds(86_400)) == .go)
        let second = makeGate()
        try await second.restore(now: start)
        #expect(try await second.admit(account: World.key, now: start) == .go)
        await second.hold(until: start + .seconds(100), now: start)
        let third = makeGate()
        try await third.restore(now: start + .seconds(1))
        #expect(await third.heldUntil(now: start + .seconds(1)) == start + .seconds(100))
        await store.close()
    }

    @Test(arguments: [(5, 5), (10, 7), (100, 95), (100, 100)])
    func aCrashDoesNotLetMoreThrough(limit: Int, sent: Int) async throws {
        let stream = StreamKey(account: World.key, server: server, poll: PollName("starred_projects")!)
        _ = try await store.pollState(stream, maxUndelivered: 1)
        let start = ManualClock.start
        let gate = makeGate(requests: limit)
        for _ in 0..<sent { #expect(try await gate.admit(account: World.key, now: start) == .go) }
        let next = makeGate(requests: limit)
        var more = 0
        while more <= limit, try await next.admit(account: World.key, now: start + .seconds(1)) == .go { more += 1 }
        #expect(sent + more == limit)
        await store.close()
    }

    @Test func acknowledgedIdentifiersHaveALimitOfTheirOwn() async throws {
        let gate = makeGate(acknowledgements: 250)
        let start = ManualClock.start
        #expect(try await gate.admit(account: World.key, acknowledging: 100, now: start) == .go)
        #expect(try await gate.admit(account: World.key, acknowledging: 100, now: start) == .go)
        guard case .wait(let until, .client) = try await gate.admit(account: World.key, acknowledging: 100, now: start)
        else {
            Issue.record("300 identifiers in a minute")
            return
        }
        #expect(until > start + .seconds(60))
        #expect(try await gate.admit(account: World.key, acknowledging: 50, now: start) == .go)
        #expect(try await gate.admit(account: World.key, now: start) == .go)
        #expect(try await gate.admit(account: World.key, acknowledging: 100, now: until) == .go)
        await store.close()
    }

    @Test func whatTheServerAskedForBindsAndIsStored() async throws {
        let start = ManualClock.start
        let gate = makeGate()
        await gate.hold(until: start + .seconds(300), now: start)
        // A shorter wait does not replace a longer one.
        await gate.hold(until: start + .seconds(10), now: start)
        let expected = ServerGate.Admission.wait(until: start + .seconds(300), source: .server)
        #expect(try await gate.admit(account: World.key, now: start + .seconds(20)) == expected)
        let next = makeGate()
        try await next.restore(now: start + .seconds(20))
        #expect(try await next.admit(account: World.key, now: start + .seconds(20)) == expected)
        #expect(try await next.admit(account: World.key, now: start + .seconds(300)) == .go)
        await store.close()
    }

    @Test(arguments: [1, 3])
    func pollsLeaveAPlaceToAnAcknowledgementThatWaits(limit: Int) async throws {
        let gate = makeGate(requests: limit)
        let start = ManualClock.start
        for index in 0..<limit {
            #expect(try await gate.admit(account: World.key, now: start + .seconds(20 * index)) == .go)
        }
        guard
            case .wait(let until, .client) = try await gate.admit(
                account: World.key,
                acknowledging: 1,
                now: start + .seconds(45)
            )
        else {
            Issue.record("one request more than the limit")
            return
        }
        // The poll asks first when there is a place.
        guard case .wait(let later, .client) = try await gate.admit(account: World.key, now: until) else {
            Issue.record("the poll took the acknowledgement's place")
            return
        }
        #expect(later > until)
        #expect(try await gate.admit(account: World.key, acknowledging: 1, now: until + .milliseconds(1)) == .go)
        #expect(try await gate.admit(account: World.key, now: until + .seconds(61)) == .go)
        await store.close()
    }

    @Test func aPlaceIsNotKeptForAnAcknowledgementThatWasGivenUp() async throws {
        let gate = makeGate(requests: 1)
        let start = ManualClock.start
        #expect(try await gate.admit(account: World.key, now: start) == .go)
        guard
            case .wait(let until, .client) = try await gate.admit(account: World.key, acknowledging: 1, now: start),
            case .wait(let later, .client) = try await gate.admit(account: World.key, now: until)
        else {
            Issue.record("nobody had to wait")
            return
        }
        #expect(later - until < .seconds(6))
        #expect(try await gate.admit(account: World.key, now: later) == .go)
        await store.close()
    }

    @Test func aRequestThatHasToWaitSpendsNoIdentifiers() async throws {
        let gate = makeGate(requests: 1, acknowledgements: 100)
        let start = ManualClock.start
        #expect(try await gate.admit(account: World.key, now: start) == .go)
        let later = start + .seconds(30)
        guard
            case .wait(let until, .client) = try await gate.admit(
                account: World.key,
                acknowledging: 100,
                now: later
            )
        else {
            Issue.record("Two requests in a minute.")
            return
        }
        #expect(try await gate.admit(account: World.key, acknowledging: 100, now: until) == .go)
        await store.close()
    }

    @Test func aBudgetThatIsSpentBindsOverARestartToo() async throws {
        let start = ManualClock.start
        let gate = makeGate()
        await gate.observe(ServerBudget(remaining: 50, resetAfter: .seconds(900)), now: start)
        #expect(try await store.serverState(server).notBefore == nil)
        await gate.observe(ServerBudget(remaining: 0, resetAfter: .seconds(300)), now: start)
        #expect(try await store.serverState(server).notBefore == start + .seconds(300))
        let next = makeGate()
        try await next.restore(now: start)
        let admission = try await next.admit(account: World.key, now: start)
        #expect(admission == .wait(until: start + .seconds(300), source: .server))
        await store.close()
    }

    @Test(arguments: [500, 429])
    func theBudgetOfAFailureCountsUnlessItSaysItselfHowLong(status: Int) async throws {
        try await World.with(.canonical) { world async throws in
            var agent = try await world.agent(random: 0)
            var headers = ["X-Rate-Limit-Remaining": "0", "X-Rate-Limit-Reset": "600"]
            if status == 429 { headers["Retry-After"] = "130" }
            world.mock.script(.status(status, headers: headers), at: .plansChanged)
            #expect(try await agent.runPoll(World.starred).outcome == "deferred")
            #expect(world.mock.requestCount(of: .plansChanged) == 1)
            let held = await agent.caller.gate.heldUntil(now: world.clock.now)
            if status == 429 {
                #expect(held == ManualClock.start + .seconds(130))
            } else {
                #expect(held == ManualClock.start + .seconds(600))
            }
            agent = try await world.agent(random: 0)
            #expect(await agent.caller.gate.heldUntil(now: world.clock.now) == held)
        }
        await store.close()
    }

    @Test func theServersOwnBudgetSlowsUsBeforeItRefuses() async throws {
        try await World.with(.canonical, mock: { $0.requestsPerMinute = 12 }) { world in
            let agent = try await world.agent()
            for _ in 0..<60 {
                _ = await agent.cycle()
                world.clock.advance(by: .seconds(2))
            }
            // The mock refuses from the thirteenth in a minute.
            let page = await agent.page()
            #expect(
                page["starwatch_api_requests_total", ["endpoint": "plans_changed", "result": "rate_limited"]] == 0
            )
            #expect(world.mock.requestCount(of: .plansChanged) >= 16)
        }
        await store.close()
    }

    @Test func theWindowSurvivesRestartsAndCountsEveryRequest() async throws {
        try await World.with(.canonical) { world in
            for _ in 0..<12 {
                let agent = try await world.agent {
                    $0.limits.requestsPerMinute = 5
                    $0.polls[0].bootstrap = .beginning
                }
                world.clock.advance(by: .seconds(2))
                world.mock.publish(count: 1)
                _ = try await agent.runPoll(World.starred)
            }
            let sent = world.mock.requests().map { Int64($0.receivedAt.timeIntervalSince1970 * 1000) }
            #expect(world.mock.requestCount(of: .acknowledge) >= 5)
            #expect(Self.most(sent) <= 5)
        }
        await store.close()
    }

    @Test func aClockThatIsSetTakesTheWindowAlong() async throws {
        let gate = makeGate(requests: 2)
        let start = ManualClock.start
        #expect(try await gate.admit(account: World.key, now: start) == .go)
        #expect(try await gate.admit(account: World.key, now: start) == .go)
        // Without the shift, an hour would seem to have passed.
        await gate.shift(by: .seconds(3600))
        guard case .wait = try await gate.admit(account: World.key, now: start + .seconds(3601)) else {
            Issue.record("The window was forgotten.")
            return
        }
        await store.close()
    }

    @Test func aClockThatIsSetBackDoesNotProlongAWait() async throws {
        let start = ManualClock.start
        let gate = makeGate()
        await gate.hold(until: start + .seconds(60), now: start)
        for _ in 0..<5 { await gate.endCycle(.network, now: start) }
        #expect(await !gate.isReady(now: start))
        await gate.shift(by: .seconds(-7200))
        let now = start + .seconds(-7200 + 60)
        #expect(try await gate.admit(account: World.key, now: now) == .go)
        #expect(await gate.isReady(now: now))
        // Nor after a restart.
        let next = makeGate()
        try await next.restore(now: now)
        #expect(try await next.admit(account: World.key, now: now) == .go)
        await store.close()
    }

    @Test func aWaitThatCouldNotBeStoredIsStoredAfterTheCycle() async throws {
        let fault = BusyTwice()
        var options = StoreOptions(path: folder.path("busy.db"))
        options.interrupt = { (operation, moment) throws(StoreError) in
            if operation == .server, moment == .begun, fault.strikes() { throw StoreError.busy }
        }
        let store = try Store(options)
        let start = ManualClock.start
        let gate = ServerGate(server: server, dialect: .auto, limits: LimitOptions(), store: store, metrics: metrics)
        await gate.hold(until: start + .seconds(300), now: start)
        await gate.endCycle(nil, now: start)
        #expect(try await store.serverState(server).notBefore == nil)
        await gate.endCycle(nil, now: start)
        #expect(try await store.serverState(server).notBefore == start + .seconds(300))
        // The same, where the wait moves with a clock that is set.
        fault.strikeAgain()
        await gate.shift(by: .seconds(3600))
        #expect(try await store.serverState(server).notBefore == start + .seconds(300))
        for _ in 0..<2 { await gate.endCycle(nil, now: start + .seconds(3600)) }
        #expect(try await store.serverState(server).notBefore == start + .seconds(3900))
        #expect(try await store.serverState(server).notBeforeSet == start + .seconds(3600))
        await store.close()
    }

    /// No cycle ends while polls are held, so that somebody else has to see to it.
    @Test func aWaitThatCouldNotBeStoredIsStoredWhileItLasts() async throws {
        try await World.with(.canonical, clock: .waiting) { world in
            let fault = StoreFault()
            let agent = try await world.agent(random: 0, surroundings: fault.surroundings)
            world.mock.script(.rateLimited(retryAfter: .seconds(3600)), at: .plansChanged)
            fault.fail(.server)
            #expect(await agent.cycle().outcome == .deferred)
            let server = world.mock.url
            #expect(try await agent.store.serverState(server).notBefore == nil)
            fault.fail()
            let service = ClockSyncService(
                caller: agent.caller,
                identity: agent.identity,
                ntp: nil,
                options: agent.options.clock,
                logger: agent.logger
            )
            let task = Task { try await service.run() }
            await world.clock.sleepers(atLeast: 1)
            await world.clock.run(until: world.clock.now + .seconds(31))
            await world.clock.sleepers(atLeast: 1)
            task.cancel()
            try await task.value
            #expect(try await agent.store.serverState(server).notBefore == ManualClock.start + .seconds(3600))
        }
    }

    @Test func withoutTheStoreNothingGoes() async throws {
        let fault = StoreFault()
        var options = StoreOptions(path: folder.path("fault.db"))
        options.interrupt = fault.interrupt
        let store = try Store(options)
        let start = ManualClock.start
        let wait = NotBefore(until: start + .seconds(600), since: start)
        try await store.setNotBefore(wait, server: server)
        let own = ServerGate(server: server, dialect: .auto, limits: LimitOptions(), store: store, metrics: metrics)
        let other = OriginGate(origin: server, requestsPerMinute: 10, store: store)
        fault.fail(.read, .finishCycle)
        await #expect(throws: StoreError.busy) { try await own.admit(account: World.key, now: start) }
        await #expect(throws: StoreError.busy) { try await other.admit(now: start) }
        fault.fail(.finishCycle)
        await #expect(throws: StoreError.busy) { try await own.admit(account: World.key, now: start) }
        #expect(try await other.admit(now: start) == wait.until)
        await store.close()
    }

    /// Another request's answer may come while the token is made, or while the store is busy.
    @Test func aWaitThatBeginsWhileTheTokenIsMadeIsKept() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent(random: 0)
            let (caller, clock) = (agent.caller, world.clock)
            let tokens = SlowTokens {
                await caller.gate.hold(until: clock.now + .seconds(60), now: clock.now)
            }
            let slow = APICaller(
                client: caller.client,
                gate: caller.gate,
                tokens: tokens,
                assumedDialect: .canonical,
                acknowledgementLimit: 100,
                clock: caller.clock,
                time: clock,
                metrics: caller.metrics,
                logger: agent.logger,
                random: { 0 }
            )
            let call = APICaller.Call(
                endpoint: .time,
                method: .get,
                account: world.did,
                purpose: .poll,
                runID: "run_of_the_test"
            )
            guard case .answer = await slow.send(call, dialect: .canonical) else {
                Issue.record("There was no answer.")
                return
            }
            let request = try #require(world.mock.requests().last)
            #expect(request.receivedAt.timeIntervalSince1970 >= (ManualClock.start + .seconds(60)).seconds)
        }
    }

    private final class SlowTokens: TokenProvider {
        private let whileMaking: @Sendable () async -> Void
        private let calls = Atomic(0)

        init(whileMaking: @escaping @Sendable () async -> Void) { self.whileMaking = whileMaking }

        func token(
            for account: DID,
            dialect: Dialect,
            purpose: TokenPurpose,
            serverTime: Timestamp
        ) async throws(TokenError) -> AccessToken? {
            if calls.add(1, ordering: .relaxed).oldValue == 0 { await whileMaking() }
            return nil
        }

        func refuse(_ token: AccessToken) async {}
        var expiry: Timestamp? { get async { nil } }
    }

    /// A wait of before the clock was set, to a server that is gone to only after it.
    @Test func anotherServersWaitIsMovedByAClockThatWasSetBefore() async throws {
        let start = ManualClock.start
        try await store.setNotBefore(NotBefore(until: start + .seconds(600), since: start), server: server)
        let gate = OriginGate(origin: server, requestsPerMinute: 10, store: store, jumps: .seconds(3600))
        #expect(try await gate.admit(now: start + .seconds(3660)) == start + .seconds(4200))
        #expect(try await gate.admit(now: start + .seconds(4200)) == nil)
        await store.close()
    }

    @Test func aClockThatIsSetTakesAWaitAlongWithoutADatabase() async throws {
        let start = ManualClock.start
        let gate = OriginGate(origin: server, requestsPerMinute: 10, store: nil, jumps: .seconds(60))
        await gate.hold(until: start + .seconds(600), now: start)
        await gate.shift(by: .seconds(3600))
        #expect(try await gate.admit(now: start + .seconds(3660)) == start + .seconds(4200))
        #expect(try await gate.admit(now: start + .seconds(4200)) == nil)
        await store.close()
    }

    @Test func aStoredWindowIsNeverMovedTooFarBack() {
        var window = StoredWindow()
        window.spend(1, at: ManualClock.start)
        let spent = window.times[0]
        window.shift(by: .milliseconds(1900))
        #expect(window.times[0] == spent + 2000)
        window.shift(by: .milliseconds(-1900))
        #expect(window.times[0] == spent + 1000)
    }

    @Test(arguments: [Int64.max, .min, -1])
    func aDamagedWindowIsLeftOut(number: Int64) {
        let bytes = [1, number, number, number, number].flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        let (requests, acknowledgements) = StoredWindow.read(bytes)
        #expect(requests.times.isEmpty && acknowledgements.times.isEmpty)
    }

    /// The same, for the way to another server, which is not gone before the clock is set.
    @Test func aClockThatIsSetBackDoesNotReviveAnotherServersWait() async throws {
        let start = ManualClock.start
        try await store.setNotBefore(NotBefore(until: start, since: start), server: server)
        let gate = OriginGate(origin: server, requestsPerMinute: 10, store: store)
        await gate.shift(by: .seconds(-7200))
        #expect(try await gate.admit(now: start + .seconds(-7200 + 61)) == nil)
        await store.close()
    }

    /// A request that an account made an hour ahead says nothing of a wait that was asked for under the right clock.
    @Test func aWaitFromAClockThatWasAheadIsAsLongAsItWasAskedFor() async throws {
        let start = ManualClock.start
        let ahead = start + .seconds(7200)
        #expect(try await makeGate().admit(account: World.other, now: ahead) == .go)
        let gate = makeGate()
        await gate.hold(until: ahead + .seconds(300), now: ahead)
        for _ in 0..<2 {
            let next = makeGate()
            try await next.restore(now: start)
            #expect(await next.heldUntil(now: start) == start + .seconds(300))
        }
        let other = OriginGate(origin: server, requestsPerMinute: 10, store: store)
        #expect(try await other.admit(now: start + .seconds(1)) == start + .seconds(301))
        // Until it is over it may be the clock of now that is wrong.
        #expect(try await store.serverState(server).notBefore == ahead + .seconds(300))
        #expect(try await other.admit(now: start + .seconds(301)) == nil)
        #expect(try await store.serverState(server).notBefore == start + .seconds(301))
        await makeGate().hold(until: start + .seconds(900), now: start)
        let last = makeGate()
        try await last.restore(now: start + .seconds(60))
        #expect(await last.heldUntil(now: start + .seconds(60)) == start + .seconds(900))
        await store.close()
    }

    /// The same, where another server is gone to for the first time after the clock was set, and after that again.
    @Test func anotherServersWaitIsNotMovedTwice() async throws {
        let start = ManualClock.start
        let ahead = start + .seconds(7200)
        let wait = NotBefore(until: ahead + .seconds(300), since: ahead)
        try await store.setNotBefore(wait, server: server)
        let gate = OriginGate(origin: server, requestsPerMinute: 10, store: store)
        await gate.shift(by: .seconds(-3600))
        let until = start + .seconds(301 - 3600)
        #expect(try await gate.admit(now: start - .seconds(3599)) == until)
        let next = OriginGate(origin: server, requestsPerMinute: 10, store: store)
        #expect(try await next.admit(now: start - .seconds(3599)) == until)
        await store.close()
    }

    /// It was over when the agent started, and would lie in the future of the next one.
    @Test func aClockThatIsSetBackDoesNotReviveAWait() async throws {
        let start = ManualClock.start
        try await store.setNotBefore(NotBefore(until: start, since: start), server: server)
        let gate = makeGate()
        try await gate.restore(now: start + .seconds(60))
        await gate.shift(by: .seconds(-7200))
        let now = start + .seconds(-7200 + 61)
        let next = makeGate()
        try await next.restore(now: now)
        #expect(await next.heldUntil(now: now) == nil)
        await store.close()
    }
}

/// A small generator with a seed.
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
