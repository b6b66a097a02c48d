import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import StarwatchTransport
import Testing

@testable import StarwatchPolling

/// Requests of visits, which the account's lease counts before they go.
@Suite final class VisitWindowTests: GateBench {
    private let account = TestAccount.key
    private let start = ManualClock.start

    private func claim(at now: Timestamp, by owner: String = "first") async throws -> AccountLease {
        let claimed = try await store.accounts.claim(
            limit: 9,
            owner: owner,
            now: now,
            until: now + .seconds(30),
            for: LeaseTerm(from: .zero)
        )
        return try #require(claimed.leases.first)
    }

    private func add() async throws {
        let (start, drafts) = (start, [AccountDraft(did: account)])
        _ = try await store.accounts.add(drafts, server: server, now: start) { _ in start }
    }

    /// A claimed account that was added and visited at the start.
    private func claimFirst() async throws -> AccountLease {
        try await add()
        let end = LeaseEnd(try await claim(at: start), next: start, asked: CycleTimes(attempted: start))
        _ = try await store.accounts.release([end])
        return try await claim(at: start)
    }

    /// The number of requests that a new gate lets through.
    private func room(of limit: Int, at now: Timestamp, on other: Store? = nil) async throws -> Int {
        let gate = makeGate(requests: limit, on: other)
        var count = 0
        while count <= limit, try await gate.pass(account: account, now: now) == .go { count += 1 }
        return count
    }

    private func stored() async throws -> Bool { try await store.polls.requestWindow(of: account) != nil }

    /// The next request reads it again.
    @Test func aWindowThatCannotBeReadHoldsNoRequestForEver() async throws {
        try await add()
        let gate = makeGate(requests: 40)
        await store.close()
        for _ in 0..<2 {
            await #expect(throws: StoreError.self) { _ = try await gate.pass(account: account, now: start) }
        }
    }

    @Test func theRequestsOfAVisitAreStoredWithItsEnd() async throws {
        let lease = try await claimFirst()
        let gate = makeGate(requests: 40)
        let sender = await gate.enter(account)
        for _ in 0..<AccountLease.requests { #expect(try await gate.pass(sender, now: start) == .go) }
        #expect(try await !stored())
        await sender.endVisit(isInterrupted: false, now: start)
        await gate.leave(sender, now: start)
        _ = try await store.accounts.release([LeaseEnd(lease, next: start)])
        #expect(try await stored())
        #expect(try await room(of: 40, at: start) == 40 - AccountLease.requests)
        await store.close()
    }

    @Test func moreRequestsThanTheLeaseCountsAreStoredBeforeTheyGo() async throws {
        _ = try await claimFirst()
        let gate = makeGate(requests: 40)
        for _ in 0...AccountLease.requests { #expect(try await gate.pass(account: account, now: start) == .go) }
        #expect(try await stored())
        await store.close()
    }

    @Test(arguments: 0...5) func anInterruptedVisitCountsAllRequestsOfItsLease(_ sent: Int) async throws {
        _ = try await claimFirst()
        let gate = makeGate(requests: 40)
        for _ in 0..<sent { #expect(try await gate.pass(account: account, now: start + .seconds(29)) == .go) }
        let later = start + .seconds(31)
        #expect(try await !claim(at: later, by: "second").wasReleased)
        #expect(try await room(of: 40, at: later) == 40 - AccountLease.requests)
        await store.close()
    }

    /// Otherwise the next visit would not know of them.
    @Test(arguments: [true, false]) func aVisitWithoutRequestsStoresThoseOfAnInterruptedOne(
        _ isForgotten: Bool
    ) async throws {
        _ = try await claimFirst()
        let later = start + .seconds(31)
        let lease = try await claim(at: later, by: "second")
        if isForgotten { try await store.accounts.makeDue(account, now: later) }
        let gate = makeGate(requests: 40)
        await gate.enter(account).endVisit(isInterrupted: true, now: later)
        _ = try await store.accounts.release([LeaseEnd(lease, next: later)])
        #expect(try await claim(at: later, by: "second").wasReleased)
        #expect(try await room(of: 40, at: later) == 40 - AccountLease.requests)
        await store.close()
    }

    @Test func aReleasedVisitLeavesNoRequestsThatOnlyItsLeaseCounts() async throws {
        let lease = try await claimFirst()
        let gate = makeGate(requests: 40)
        let sender = await gate.enter(account)
        #expect(try await gate.pass(sender, now: start) == .go)
        await sender.endVisit(isInterrupted: false, now: start)
        _ = try await store.accounts.release([LeaseEnd(lease, next: start + .seconds(900))])
        // An operator's request, while the account rests.
        #expect(try await gate.pass(sender, now: start) == .go)
        // After a crash.
        #expect(try await room(of: 40, at: start) < 40 - 1)
        await store.close()
    }

    /// It can be one that was removed or erased, while another process visited it.
    @Test(arguments: [true, false]) func aNewAccountCountsTheRequestsOfAVisitFromBefore(_ isClaimed: Bool) async throws
    {
        try await add()
        if isClaimed { _ = try await claim(at: start) }
        #expect(try await room(of: 40, at: start) == 40 - AccountLease.requests)
        await store.close()
    }

    /// Nothing is kept of its own requests. The limit of all accounts knows none of them, and still counts what was sent.
    @Test func anErasedAccountThatIsAddedAgainStaysBelowTheLimitOfAll() async throws {
        let lease = try await claimFirst()
        var limits = GateLimits(requestsPerMinute: 40, acknowledgementsPerMinute: 100, areOfAccounts: true)
        limits.requestsPerSecond = 3
        let gate = Gate(server: server, limits: limits, store: store)
        let sender = await gate.enter(account)
        for _ in 0..<3 { #expect(try await gate.pass(sender, now: start) == .go) }
        await sender.endVisit(isInterrupted: false, now: start)
        await gate.leave(sender, now: start)
        _ = try await store.accounts.release([LeaseEnd(lease, next: start)])
        _ = try await store.identity.eraseAccount(account)
        #expect(try await !stored())
        try await add()
        _ = try await claim(at: start)
        guard case .wait(_, .client) = try await gate.pass(account: account, now: start) else {
            Issue.record("A request goes above the limit of all accounts.")
            return
        }
        #expect(try await gate.pass(account: account, now: start + .seconds(2)) == .go)
        await store.close()
    }

    @Test func anOperatorsRequestBeforeTheVisitIsCountedInIt() async throws {
        _ = try await claimFirst()
        let gate = makeGate(requests: 40)
        let sender = await gate.enter(account)
        #expect(try await gate.pass(sender, now: start) == .go)
        await gate.leave(sender, now: start)
        #expect(try await room(of: 40, at: start) == 40 - 1)
        await store.close()
    }

    @Test(arguments: [true, false]) func theRequestsOfAnInterruptedVisitAreCountedOnceInTheNext(
        _ isForgotten: Bool
    ) async throws {
        _ = try await claimFirst()
        let later = start + .seconds(31)
        #expect(try await !claim(at: later, by: "second").wasReleased)
        if isForgotten { try await store.accounts.makeDue(account, now: later) }
        let gate = makeGate(requests: 40)
        // An operator's request, before the visit.
        let sender = await gate.enter(account)
        #expect(try await gate.pass(sender, now: later) == .go)
        await gate.leave(sender, now: later)
        #expect(try await room(of: 40, at: later) == 40 - 1 - AccountLease.requests)
        await store.close()
    }

    @Test(arguments: [true, false]) func workWithoutALeaseCountsTheRequestsOfOneThatWasNotReleased(
        _ isInterrupted: Bool
    ) async throws {
        let lease = try await claimFirst()
        let gate = makeGate(requests: 40)
        let sender = await gate.enter(account)
        #expect(try await gate.pass(sender, now: start) == .go)
        if !isInterrupted {
            await sender.endVisit(isInterrupted: false, now: start)
            _ = try await store.accounts.release([LeaseEnd(lease, next: start + .seconds(900))])
        }
        await store.close()
        // An operator's requests after a restart, before the lease ends.
        let next = try Store(StoreOptions(path: folder.path("starwatch.db")))
        let counted = isInterrupted ? AccountLease.requests : 1
        #expect(try await room(of: 40, at: start + .seconds(1), on: next) == 40 - counted)
        await next.close()
    }

    /// Users of an account at the same time share its window, and nothing of it is kept after the last.
    @Test func aGateKnowsAnAccountUntilItsLastUserHasLeft() async throws {
        let gate = makeGate(requests: 40)
        weak var known: AccountRequests?
        do {
            let (sender, other) = (await gate.enter(account), await gate.enter(account))
            known = sender.requests
            #expect(other.requests === sender.requests)
            #expect(try await gate.pass(sender, now: start) == .go)
            await gate.leave(other, now: start)
            #expect(try await gate.pass(sender, now: start) == .go)
            #expect(await gate.remaining(now: start) == 40 - 2)
            await gate.leave(sender, now: start)
        }
        #expect(known == nil)
        #expect(await gate.remaining(now: start) == 40)
        await store.close()
    }

    /// A host program's request can be of an account that nobody else works for.
    @Test(arguments: [true, false]) func aRequestOfAnAccountAtRestIsCountedWithItsNextOnes(
        _ isServed: Bool
    ) async throws {
        if isServed {
            let lease = try await claimFirst()
            _ = try await store.accounts.release([LeaseEnd(lease, next: start + .seconds(900))])
        }
        let gate = makeGate(requests: 40)
        let clock = ManualClock()
        let requester = Requester(
            gates: Gates(store: store, requestsPerMinute: 40, time: clock),
            time: clock,
            random: { 0.5 }
        )
        for _ in 0..<2 {
            let sender = await gate.enter(account)
            var open = OpenRequest(of: sender, through: gate, by: requester, token: nil)
            #expect(await open.next())
            let now = ClockReading(wall: clock.now, monotonic: clock.monotonic)
            let measurements = HTTPMeasurements(sentAt: now, receivedAt: now)
            _ = open.receive(HTTPExchange(result: .failure(.cancelled), measurements: measurements))
            await open.end(with: .cancelled)
            #expect(await !open.next())
            await gate.leave(sender, now: start)
            #expect(await gate.remaining(now: start) == 40, "The account is forgotten.")
        }
        #expect(try await room(of: 40, at: start) == 40 - 2)
        await store.close()
    }
}
