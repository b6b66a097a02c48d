import Foundation
import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import StarwatchTransport
import Synchronization
import Testing

@testable import StarwatchPolling

@Suite final class ServerGateTests: GateBench {
    /// The most entries within any 60 s, both ends included.
    static func most(_ times: [Int64], withinMilliseconds length: Int64 = 60_000) -> Int {
        let sorted = times.sorted()
        return sorted.map { end in sorted.filter { $0 <= end && end - $0 <= length }.count }.max() ?? 0
    }

    @Test func requestsOfNoAccountTakeFromTheLimitOfAll() async throws {
        var limits = GateLimits(requestsPerMinute: 100, acknowledgementsPerMinute: 100, areOfAccounts: true)
        limits.requestsPerSecond = 1
        let (gate, now) = (Gate(server: server, limits: limits, store: store), ManualClock.start)
        #expect(try await gate.admit(now: now) == nil)
        #expect(try await gate.admit(now: now) == now + .milliseconds(1001))
        guard case .wait(_, .client) = try await gate.admit(account: TestAccount.key, now: now) else {
            Issue.record("A request of an account goes above the limit.")
            return
        }
        #expect(try await gate.pass(account: TestAccount.key, now: now + .seconds(2)) == .go)
        #expect(try await gate.admit(now: now + .seconds(2)) != nil)
    }

    @Test(arguments: 1...8)
    func neverMoreThanTheLimitInAnyMinute(seed: Int) async throws {
        let limit = [1, 2, 5, 17][seed % 4]
        let gate = makeGate(requests: limit)
        var random = SplitMix(state: UInt64(seed))
        var now = ManualClock.start
        var sent: [Int64] = []
        var ticket = TicketQueue.Ticket()
        for _ in 0..<600 {
            switch try await gate.pass(account: TestAccount.key, ticket: ticket, now: now) {
            case .go:
                sent.append(now.milliseconds)
                ticket = TicketQueue.Ticket()
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
                group.addTask { try await gate.pass(account: TestAccount.key, now: ManualClock.start) == .go }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(sent == 2)
        await store.close()
    }

    private final class Counts: StoreObserver {
        let writes = Atomic(0)
        let sent = Atomic(Int64(0))

        func ended(_ operation: StoreOperation, after duration: Duration) {
            if operation == .finishCycle { writes.add(1, ordering: .relaxed) }
        }

        /// A store with a stream, whose writes are counted.
        func store(in folder: TestFolder, server: String) async throws -> Store {
            var options = StoreOptions(path: folder.path("starwatch.db"))
            options.observer = self
            let store = try Store(options)
            let stream = StreamKey(account: TestAccount.key, server: server, poll: PollName("starred_projects")!)
            _ = try await store.polls.state(stream, maxUndelivered: 1)
            return store
        }
    }

    @Test func requestsThatStartTogetherAreStoredTogetherAndEachBeforeItGoes() async throws {
        let folder = try TestFolder()
        let counts = Counts()
        let store = try await counts.store(in: folder, server: server)
        let gate = makeGate(on: store)
        await withTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    #expect((try? await gate.pass(account: TestAccount.key, now: ManualClock.start)) == .go)
                    let gone = counts.sent.add(1, ordering: .relaxed).newValue
                    let stored = try? await store.polls.requestWindow(of: TestAccount.key)
                    #expect(stored.map { Self.spent($0) >= gone } == true)
                }
            }
        }
        let stored = try await store.polls.requestWindow(of: TestAccount.key)
        #expect(stored.map { (100...105).contains(Self.spent($0)) } == true)
        #expect((1..<50).contains(counts.writes.load(ordering: .relaxed)))
        await store.close()
    }

    /// The requests that a stored window counts.
    private static func spent(_ bytes: [UInt8]) -> Int64 {
        let numbers = StoredWindows(bytes: bytes).requests
        return stride(from: 1, to: numbers.count, by: 2).reduce(0) { $0 + numbers[$1] }
    }

    /// Otherwise the host program's closures could run on a transport's thread, which works for the same gate.
    @Test func aRequestOfATaskWithoutAPreferenceGetsOne() async throws {
        let clock = ManualClock()
        let gates = Gates(store: nil, requestsPerMinute: 100, time: clock)
        let seen = Mutex<[Bool]>([])
        let note = { @Sendable in
            seen.withLock { $0.append(withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil }) }
        }
        let now = ClockReading(wall: clock.now, monotonic: clock.monotonic)
        struct Noting: HTTPTransport {
            let note: @Sendable () -> Void
            let now: ClockReading

            func exchange(_ request: HTTPRequest) async -> HTTPExchange {
                note()
                let measurements = HTTPMeasurements(sentAt: now, receivedAt: now)
                return HTTPExchange(result: .failure(.cancelled), measurements: measurements)
            }

            func shutdown() {}
        }
        let requester = HostRequester(
            http: Noting(note: note, now: now),
            client: ClientNames(),
            observer: MetricsFacadeObserver(),
            requester: Requester(gates: gates, time: clock, random: { 0.5 })
        )
        let request = PreparedRequest(
            message: HTTPRequest(url: "http://127.0.0.1:9/", timeout: .seconds(1), maxResponseBytes: 1),
            origin: "http://127.0.0.1:9",
            tokens: PollTokens.bearer { _, _ in
                note()
                return nil
            }.source,
            mayGoWithoutToken: true
        )
        _ = await Task.detached { await requester.send(request) }.value
        #expect(seen.withLock { $0 } == [true, true])
        await store.close()
    }

    @Test func mostRequestsGoWithoutAWrite() async throws {
        let folder = try TestFolder()
        let counts = Counts()
        let store = try await counts.store(in: folder, server: server)
        let gate = makeGate(on: store)
        for second in 0..<60 {
            #expect(
                try await gate.pass(account: TestAccount.key, now: ManualClock.start + .seconds(Double(second))) == .go
            )
        }
        // One write for the first and for every sixth request after it.
        #expect(counts.writes.load(ordering: .relaxed) == 10)
        // An acknowledgement has a limit of its own, which is not stored ahead.
        let later = ManualClock.start + .seconds(60)
        #expect(try await gate.pass(account: TestAccount.key, acknowledging: 1, now: later) == .go)
        #expect(counts.writes.load(ordering: .relaxed) == 11)
        await store.close()
    }

    @Test func everyAccountKeepsItsWindowWhileAnotherIsActive() async throws {
        let gate = makeGate(requests: 2)
        let start = ManualClock.start
        for account in [TestAccount.key, TestAccount.key, TestAccount.other] {
            #expect(try await gate.pass(account: account, now: start) == .go)
        }
        guard case .wait = try await gate.pass(account: TestAccount.key, now: start) else {
            Issue.record("The other account's request made the first one's be forgotten.")
            return
        }
        await store.close()
    }

    @Test func whatAClockThatWasAheadHasSpentShortensNoLaterWait() async throws {
        let stream = StreamKey(account: TestAccount.key, server: server, poll: PollName("starred_projects")!)
        _ = try await store.polls.state(stream, maxUndelivered: 1)
        let start = ManualClock.start
        #expect(try await makeGate().pass(account: TestAccount.key, now: start + .seconds(86_400)) == .go)
        let second = makeGate()
        try await second.restore(now: start)
        #expect(try await second.pass(account: TestAccount.key, now: start) == .go)
        await second.hold(until: start + .seconds(100), now: start)
        let third = makeGate()
        try await third.restore(now: start + .seconds(1))
        #expect(await third.hold(now: start + .seconds(1))?.until == start + .seconds(100))
        await store.close()
    }

    /// A request that waited for a slow disk, or for a connection, reaches the server later than it was counted.
    @Test func theMinuteOfARequestBeginsAtItsEnd() async throws {
        let start = ManualClock.start
        let gate = makeGate(requests: 2, acknowledgements: 10)
        #expect(try await gate.pass(account: TestAccount.key, now: start) == .go)
        #expect(try await gate.admit(account: TestAccount.key, acknowledging: 10, now: start + .seconds(1)) == .go)
        let end = start + .seconds(41)
        await gate.ended(account: TestAccount.key, acknowledging: 10, now: end)
        let later = start + .seconds(62)
        guard
            case .wait(let until, .client) = try await gate.admit(
                account: TestAccount.key,
                acknowledging: 1,
                now: later
            )
        else {
            Issue.record("11 identifiers in a minute")
            return
        }
        #expect(until == end + .milliseconds(60_001))
        #expect(try await gate.admit(account: TestAccount.key, now: later) == .go)
        guard case .wait = try await gate.admit(account: TestAccount.key, now: later) else {
            Issue.record("3 requests in a minute")
            return
        }
        // It is stored so with the next request, or at the end.
        let next = makeGate(requests: 2, acknowledgements: 10)
        guard case .wait = try await next.admit(account: TestAccount.key, now: later + .seconds(1)) else {
            Issue.record("forgotten by a restart")
            return
        }
        await gate.ended(account: TestAccount.key, now: later + .seconds(20))
        await gate.storeEnds(now: later + .seconds(20))
        let last = makeGate(requests: 2, acknowledgements: 10)
        #expect(try await last.pass(account: TestAccount.key, now: later + .seconds(41)) == .go)
        guard case .wait(let free, _) = try await last.pass(account: TestAccount.key, now: later + .seconds(62)) else {
            Issue.record("3 requests in a minute, over a restart")
            return
        }
        #expect(free == later + .milliseconds(80_001))
        await store.close()
    }

    @Test func acknowledgedIdentifiersHaveALimitOfTheirOwn() async throws {
        let gate = makeGate(acknowledgements: 250)
        let start = ManualClock.start
        #expect(try await gate.pass(account: TestAccount.key, acknowledging: 100, now: start) == .go)
        #expect(try await gate.pass(account: TestAccount.key, acknowledging: 100, now: start) == .go)
        guard
            case .wait(let until, .client) = try await gate.pass(
                account: TestAccount.key,
                acknowledging: 100,
                now: start
            )
        else {
            Issue.record("300 identifiers in a minute")
            return
        }
        #expect(until > start + .seconds(60))
        #expect(try await gate.pass(account: TestAccount.key, acknowledging: 50, now: start) == .go)
        #expect(try await gate.pass(account: TestAccount.key, now: start) == .go)
        #expect(try await gate.pass(account: TestAccount.key, acknowledging: 100, now: until) == .go)
        await store.close()
    }

    @Test func whatTheServerAskedForBindsAndIsStored() async throws {
        let start = ManualClock.start
        let gate = makeGate()
        await gate.hold(until: start + .seconds(300), now: start)
        // A shorter wait does not replace a longer one.
        await gate.hold(until: start + .seconds(10), now: start)
        let expected = Gate.Admission.wait(until: start + .seconds(300), source: .server)
        #expect(try await gate.pass(account: TestAccount.key, now: start + .seconds(20)) == expected)
        let next = makeGate()
        try await next.restore(now: start + .seconds(20))
        #expect(try await next.pass(account: TestAccount.key, now: start + .seconds(20)) == expected)
        #expect(try await next.pass(account: TestAccount.key, now: start + .seconds(300)) == .go)
        await store.close()
    }

    @Test(arguments: [1, 3])
    func pollsLeaveAPlaceToAnAcknowledgementThatWaits(limit: Int) async throws {
        let gate = makeGate(requests: limit)
        let start = ManualClock.start
        for index in 0..<limit {
            #expect(try await gate.pass(account: TestAccount.key, now: start + .seconds(20 * index)) == .go)
        }
        let ticket = TicketQueue.Ticket()
        guard
            case .wait(let until, .client) = try await gate.admit(
                account: TestAccount.key,
                ticket: ticket,
                acknowledging: 1,
                now: start + .seconds(45)
            )
        else {
            Issue.record("one request more than the limit")
            return
        }
        // The poll asks first when there is a place.
        guard case .wait(let later, .client) = try await gate.pass(account: TestAccount.key, now: until) else {
            Issue.record("the poll took the acknowledgement's place")
            return
        }
        #expect(later > until)
        let taken = try await gate.pass(
            account: TestAccount.key,
            ticket: ticket,
            acknowledging: 1,
            now: until + .milliseconds(1)
        )
        #expect(taken == .go)
        #expect(try await gate.pass(account: TestAccount.key, now: until + .seconds(61)) == .go)
        await store.close()
    }

    @Test func aPlaceIsNotKeptForWhoHasGivenUp() async throws {
        let gate = makeGate(requests: 1)
        let start = ManualClock.start
        #expect(try await gate.pass(account: TestAccount.key, now: start) == .go)
        let (first, second) = (TicketQueue.Ticket(), TicketQueue.Ticket())
        let free = start + .milliseconds(60_001)
        var found: [Gate.Admission] = []
        for ticket in [first, second] {
            found.append(try await gate.pass(account: TestAccount.key, ticket: ticket, acknowledging: 1, now: start))
        }
        #expect(found == [0, 60].map { .wait(until: free + .seconds($0), source: .client) })
        await gate.leave(first, account: TestAccount.key)
        #expect(try await gate.pass(account: TestAccount.key, ticket: second, acknowledging: 1, now: free) == .go)
        await store.close()
    }

    /// A poll that is due every second would take each place that becomes free, and another one wait for ever.
    @Test func whoCameFirstGoesFirstHoweverOftenAnotherAsks() async throws {
        let (gate, limit, start) = (makeGate(requests: 10), 10, ManualClock.start)
        for index in 0..<limit {
            #expect(try await gate.pass(account: TestAccount.key, now: start + .seconds(index)) == .go)
        }
        let (first, second) = (TicketQueue.Ticket(), TicketQueue.Ticket())
        let free = start + .milliseconds(60_001)
        let expected: [Gate.Admission] = [
            .wait(until: free, source: .client), .wait(until: free + .seconds(1), source: .client),
        ]
        var found: [Gate.Admission] = []
        for (index, ticket) in [first, second].enumerated() {
            found.append(
                try await gate.pass(account: TestAccount.key, ticket: ticket, now: start + .seconds(20 + index))
            )
        }
        #expect(found == expected)
        // Others ask at the very moment when there is a place, and before those who wait for it.
        for (index, ticket) in [first, second].enumerated() {
            let now = free + .seconds(index)
            #expect(try await gate.turn(account: TestAccount.key, now: now) != .go)
            #expect(try await gate.pass(account: TestAccount.key, now: now) != .go)
            #expect(try await gate.pass(account: TestAccount.key, ticket: ticket, now: now) == .go)
        }
        await store.close()
    }

    @Test func whatWaitsForAnotherServerIsNotOvertakenEither() async throws {
        let start = ManualClock.start
        let gate = Gate(origin: "https://other.example", requestsPerMinute: 1, store: nil)
        let ticket = TicketQueue.Ticket()
        #expect(try await gate.admit(now: start) == nil)
        await gate.ended(account: nil, now: start)
        let free = start + .milliseconds(60_001)
        #expect(try await gate.admit(ticket, now: start + .seconds(1)) == free)
        #expect(try await gate.turn(account: nil, ticket: TicketQueue.Ticket(), now: free) != .go)
        #expect(try await gate.admit(ticket, now: free) == nil)
        await store.close()
    }

    @Test func aRequestThatHasToWaitSpendsNoIdentifiers() async throws {
        let gate = makeGate(requests: 1, acknowledgements: 100)
        let start = ManualClock.start
        #expect(try await gate.pass(account: TestAccount.key, now: start) == .go)
        let later = start + .seconds(30)
        let ticket = TicketQueue.Ticket()
        guard
            case .wait(let until, .client) = try await gate.admit(
                account: TestAccount.key,
                ticket: ticket,
                acknowledging: 100,
                now: later
            )
        else {
            Issue.record("Two requests in a minute.")
            return
        }
        let taken = try await gate.pass(account: TestAccount.key, ticket: ticket, acknowledging: 100, now: until)
        #expect(taken == .go)
        await store.close()
    }

    @Test func aBudgetThatIsSpentBindsOverARestartToo() async throws {
        let start = ManualClock.start
        let gate = makeGate()
        await gate.ended(account: nil, budget: ServerBudget(remaining: 50, resetAfter: .seconds(900)), now: start)
        #expect(try await store.servers.state(server).notBefore == nil)
        await gate.ended(account: nil, budget: ServerBudget(remaining: 0, resetAfter: .seconds(300)), now: start)
        #expect(try await store.servers.state(server).notBefore == start + .seconds(300))
        let next = makeGate()
        try await next.restore(now: start)
        let admission = try await next.pass(account: TestAccount.key, now: start)
        #expect(admission == .wait(until: start + .seconds(300), source: .server))
        await store.close()
    }

    @Test func aClockThatIsSetTakesTheWindowAlong() async throws {
        let gate = makeGate(requests: 2)
        let start = ManualClock.start
        #expect(try await gate.pass(account: TestAccount.key, now: start) == .go)
        #expect(try await gate.pass(account: TestAccount.key, now: start) == .go)
        // Without the shift, an hour would seem to have passed.
        await gate.shift(by: .seconds(3600))
        guard case .wait = try await gate.pass(account: TestAccount.key, now: start + .seconds(3601)) else {
            Issue.record("The window was forgotten.")
            return
        }
        await store.close()
    }

    @Test func aStoredWindowIsNeverMovedTooFarBack() {
        var window = SlidingWindow(limit: 2)
        let start = ManualClock.start
        _ = window.admit(at: start)
        window.end(at: start)
        for (jump, second) in [(1900, 2000), (-1900, 0), (-900, 0), (901, 1000)] as [(Int64, Int64)] {
            window.shift(by: .milliseconds(jump))
            let stored = StoredWindows(window, SlidingWindow(limit: 1), now: start)
            #expect(stored.requests == [start.milliseconds + second, 1])
        }
    }

    @Test(arguments: [Int64.max, .min, -1])
    func aDamagedWindowIsLeftOut(number: Int64) {
        let bytes = [1, number, number, number, number].flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        let windows = StoredWindows(bytes: bytes)
        #expect(windows.requests.isEmpty && windows.acknowledgements.isEmpty)
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
