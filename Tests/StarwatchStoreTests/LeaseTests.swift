import GRDB
import StarwatchCore
import Synchronization
import Testing

@testable import StarwatchStore

/// An account is worked for by one owner at a time, and what another one does too late is not stored.
@Suite struct LeaseTests {
    let world = World()
    private let witness = Witness()
    private var until: Timestamp { world.now + .seconds(30) }

    /// A store with accounts that became due one after the other, and now.
    private func store(
        _ dids: [DID] = [World.alice],
        _ change: (inout StoreOptions) -> Void = { _ in }
    ) async throws -> Store {
        var options = world.options()
        options.observer = witness
        change(&options)
        let store = try Store(options)
        let (now, drafts) = (world.now, dids.map { AccountDraft(did: $0) })
        _ = try await store.accounts.add(drafts, server: World.server, now: now) { did in
            now - .seconds(dids.count - 1 - dids.firstIndex(of: did)!)
        }
        return store
    }

    private func claim(_ store: Store, limit: Int = 9, owner: String = "first") async throws -> [AccountLease] {
        try await store.accounts.claim(
            limit: limit,
            owner: owner,
            now: world.now,
            until: until,
            for: LeaseTerm(from: .zero)
        ).leases
    }

    private func claimOne(_ store: Store) async throws -> AccountLease { try #require(try await claim(store).first) }

    /// Every row that work for an account can write.
    private func dump() async throws -> [String] {
        try await DatabaseQueue(path: world.path).read { db in
            try [
                "settings", "accounts", "leases", "streams", "watermarks", "ledger", "notification_outbox",
                "notifications", "deliveries", "ack_batches", "request_windows", "history",
            ].flatMap { table in
                try Row.fetchAll(db, sql: "SELECT * FROM \(table) ORDER BY 1, 2").map { "\(table) \($0)" }
            }
        }
    }

    // MARK: - Claims

    @Test func aClaimTakesEachAccountOnceTheOldestDueFirst() async throws {
        let dids = (0..<5).map { DID("did:ethr:0x\($0)")! }
        let store = try await store(dids)
        let first = try await claim(store, limit: 2)
        let second = try await claim(store, limit: 2, owner: "second")
        let third = try await claim(store, owner: "first")
        #expect((first + second + third).map(\.account) == dids)
        #expect(first.map(\.dueAt) == [world.now - .seconds(4), world.now - .seconds(3)])
        #expect(first.allSatisfy { $0.wasReleased && $0.owner == "first" })
        #expect(try await claim(store, owner: "second") == [])
        let counts = try await store.accounts.counts(now: world.now)
        #expect(counts.leased == 5 && counts.due == 0 && counts.oldestDue == nil)
    }

    /// A visit that only delivered has moved its time, and polled nothing.
    @Test func theAccountThatWasNotPolledForLongestComesBeforeOneThatIsDueForLonger() async throws {
        let dids = (0..<3).map { DID("did:ethr:0x\($0)")! }
        let store = try await store(dids)
        let polled: [Duration] = [.seconds(20), .seconds(10), .seconds(30)]
        for (index, lease) in try await claim(store).enumerated() {
            let next = world.now + .seconds(60 + index)
            let attempted = world.now + polled[index]
            #expect(try await store.accounts.release(lease, next: next, attempted: attempted, succeeded: nil))
        }
        world.now = world.now + .seconds(100)
        #expect(try await claim(store, limit: 2).map(\.account) == [dids[1], dids[0]])
        #expect(try await claim(store).map(\.account) == [dids[2]])
    }

    /// A visit works with the states that its claim has read.
    @Test func aClaimReadsTheStatesThatCyclesRead() async throws {
        let store = try await store([World.alice, World.bob])
        var streams: [StreamKey] = []
        for (account, poll) in [(World.alice, "one"), (World.alice, "two"), (World.bob, "one"), (World.bob, "two")] {
            let stream = StreamKey(account: account, server: World.server, poll: PollName(poll)!)
            streams.append(stream)
            _ = try await store.polls.state(stream, maxUndelivered: 1000)
        }
        try await world.commit(store, world.changes(1...3), stream: streams[0])
        try await world.commit(store, world.changes(1...250), stream: streams[2]) { page in
            page.walk = .save(OpenWalk(top: world.id(300), before: world.id(260), after: nil))
        }
        store.polls.recordUnchanged(
            CycleRecord(
                stream: streams[2],
                runID: "run",
                startedAt: world.now,
                finishedAt: world.now,
                outcome: .unchanged
            )
        )
        let now = world.now
        _ = try await store.accounts.claim(
            limit: 9,
            owner: "o",
            now: now,
            until: until,
            for: LeaseTerm(from: .zero),
            maxUndelivered: 1000
        )
        for stream in streams {
            let claimed = try #require(store.polls.claimedState(stream, maxUndelivered: 1000))
            #expect(try await claimed == store.polls.state(stream, maxUndelivered: 1000))
        }
        #expect(try await store.polls.state(streams[0], maxUndelivered: 1000).known.count == 3)
    }

    @Test func aCycleEndsTheTimesThatAClaimHasRead() async throws {
        let store = try await store()
        _ = try await store.polls.state(world.stream, maxUndelivered: 1000)
        let now = world.now
        _ = try await store.accounts.claim(
            limit: 9,
            owner: "o",
            now: now,
            until: until,
            for: LeaseTerm(from: .zero),
            maxUndelivered: 1000
        )
        #expect(store.polls.claimedState(world.stream, maxUndelivered: 1000) != nil)
        store.polls.recordUnchanged(.make(world, .unchanged))
        #expect(store.polls.claimedState(world.stream, maxUndelivered: 1000) == nil)
    }

    @Test func anAccountThatIsPausedOrNotDueIsNotClaimed() async throws {
        let store = try await store([World.alice, World.bob])
        _ = try await store.accounts.set(.paused, of: World.alice, now: world.now)
        #expect(
            try await store.accounts.claim(
                limit: 9,
                owner: "o",
                now: world.now - .seconds(1),
                until: until,
                for: LeaseTerm(from: .zero)
            ).leases
                == []
        )
        #expect(try await claim(store).map(\.account) == [World.bob])
    }

    @Test func onlyAccountsWithChangesToDeliverAreClaimedForDelivery() async throws {
        let store = try await store([World.alice, World.bob])
        let stream = StreamKey(account: World.bob, server: World.server, poll: PollName("one")!)
        try await world.commit(store, world.changes(1...3), stream: stream)
        let (now, until) = (world.now, until)
        let counts = try await store.accounts.counts(.delivery, now: now)
        #expect(counts.due == 1 && counts.active == 2 && counts.oldestDue == now)
        #expect(try await store.accounts.nextDue(.delivery) == now)
        #expect(try await store.accounts.nextDue() == now - .seconds(1))
        let leases = try await store.accounts.claim(
            .delivery,
            limit: 9,
            owner: "o",
            now: now,
            until: until,
            for: LeaseTerm(from: .zero)
        ).leases
        #expect(leases.map(\.account) == [World.bob])
        #expect(try await store.accounts.counts(.delivery, now: now).due == 0)
        #expect(try await claim(store).map(\.account) == [World.alice])
    }

    @Test func aReleasedAccountIsDueAtItsNextTime() async throws {
        let store = try await store()
        let lease = try await claimOne(store)
        let (next, at) = (world.now + .seconds(900), world.now + .seconds(1))
        #expect(try await store.accounts.release(lease, next: next, attempted: at, succeeded: nil))
        let account = try #require(try await store.accounts.account(World.alice))
        #expect(account.dueAt == next && account.lastAttempt == at && account.lastSuccess == nil && !account.isLeased)
        #expect(try await !store.accounts.release(lease, next: world.now, attempted: nil, succeeded: nil))
        world.now = next
        let again = try await claimOne(store)
        #expect(again.wasReleased && again.epoch == lease.epoch + 1 && again.dueAt == next)
        #expect(try await store.accounts.release(again, next: next, attempted: nil, succeeded: at))
        let later = try #require(try await store.accounts.account(World.alice))
        #expect(later.lastAttempt == at && later.lastSuccess == at)
    }

    @Test func aRenewedLeaseEndsLater() async throws {
        let store = try await store()
        _ = try await claimOne(store)
        world.now = until - .seconds(1)
        #expect(try await store.accounts.renew(until: until, for: LeaseTerm(from: .zero)) == [])
        world.now = world.now + .seconds(10)
        #expect(try await claim(store, owner: "second") == [])
        world.now = until
        #expect(try await claim(store, owner: "second").map(\.wasReleased) == [false])
    }

    @Test func aLeaseOfAnotherOwnerIsNotRenewed() async throws {
        let store = try await store()
        let lease = try await claimOne(store)
        world.now = until
        let taken = try await store.claimElsewhere(owner: "second", now: world.now, until: until)
        #expect(taken.map(\.account) == [World.alice])
        let before = try await dump()
        #expect(try await store.accounts.renew(until: until + .seconds(9), for: LeaseTerm(from: .zero)) == [lease])
        #expect(try await dump() == before)
    }

    /// The renewal can have waited for the store.
    @Test func aRenewalThatBeganBeforeAClaimDoesNotShortenItsLease() async throws {
        let store = try await store()
        let (early, before) = (until, LeaseTerm(from: .zero))
        world.now = world.now + .seconds(5)
        let lease = try #require(
            try await store.accounts.claim(
                limit: 9,
                owner: "first",
                now: world.now,
                until: until,
                for: LeaseTerm(from: .seconds(5))
            ).leases.first
        )
        let claimed = try await dump()
        #expect(try await store.accounts.renew(until: early, for: before) == [])
        #expect(try await dump() == claimed)
        #expect(store.accounts.holds(lease, at: .seconds(24)))
    }

    @Test func aReleaseForgetsWhatTheMemoryHasOfTheAccount() async throws {
        let store = try await store()
        let lease = try await claimOne(store)
        _ = try await store.polls.state(world.stream, maxUndelivered: 1000)
        #expect(store.polls.rememberedState(world.stream, maxUndelivered: 1000) != nil)
        _ = try await store.accounts.release(lease, next: until, attempted: nil, succeeded: nil)
        #expect(store.polls.rememberedState(world.stream, maxUndelivered: 1000) == nil)
        #expect(store.memory.accounts.look(at: world.stream.account, \.isEmpty))
    }

    /// Otherwise operators could not change the account until its next visit.
    @Test(arguments: StoreMoment.allCases) func aReleaseThatFailsEndsTheLeaseHere(_ moment: StoreMoment) async throws {
        let fault = LeaseFault()
        let store = try await store { $0.interrupt = fault.interrupt }
        let lease = try await claimOne(store)
        fault.moment.withLock { $0 = moment }
        await #expect(throws: StoreError.busy) {
            try await store.accounts.release(lease, next: until, attempted: nil, succeeded: nil)
        }
        fault.moment.withLock { $0 = nil }
        #expect(try await store.stars.set(["p"], of: World.alice, server: World.server, now: world.now) == ["p"])
        world.now = until
        #expect(try await claimOne(store).wasReleased == (moment == .ended))
    }

    // MARK: - Changes by an operator

    @Test func aChangeDuringAVisitMakesTheAccountDueAtItsRelease() async throws {
        let store = try await store()
        let lease = try await claimOne(store)
        let changed = world.now + .seconds(5)
        try await store.accounts.makeDue(World.alice, now: changed)
        // It stays with its owner until the end of the visit.
        #expect(
            try await store.accounts.claim(
                limit: 9,
                owner: "second",
                now: changed,
                until: until,
                for: LeaseTerm(from: .zero)
            ).leases == []
        )
        #expect(try await store.accounts.renew(until: until, for: LeaseTerm(from: .zero)) == [])
        _ = try await store.accounts.release(lease, next: until, attempted: nil, succeeded: nil)
        #expect(try await store.accounts.account(World.alice)?.dueAt == changed)
    }

    @Test func aChangeMakesAnAccountDueThatIsNotLeasedOrPaused() async throws {
        let store = try await store()
        _ = try await store.accounts.release(claimOne(store), next: until, attempted: nil, succeeded: nil)
        try await store.accounts.makeDue(World.alice, now: world.now)
        #expect(try await store.accounts.account(World.alice)?.dueAt == world.now)
        let paused = try await store.accounts.set(.paused, of: World.alice, now: world.now)
        try await store.accounts.makeDue(World.alice, now: world.now)
        #expect(try await store.accounts.account(World.alice) == paused)
    }

    @Test func aCycleWritesNothingAfterAPauseDuringItsVisit() async throws {
        let store = try await store()
        let lease = try await claimOne(store)
        _ = try await store.polls.state(world.stream, maxUndelivered: 1000)
        _ = try await store.accounts.set(.paused, of: World.alice, now: world.now)
        let before = try await dump()
        let counts = try await world.commit(store, world.changes(1...3)) { $0.expectedGeneration = lease.generation }
        #expect(counts == nil)
        #expect(try await dump() == before)
    }

    @Test func aLeaseFromBeforeARemovalIsNotTakenForALaterOne() async throws {
        let store = try await store()
        let lease = try await claimOne(store)
        _ = try await store.accounts.remove(World.alice, now: world.now)
        #expect(try await store.accounts.renew(until: until, for: LeaseTerm(from: .zero)) == [lease])
        let now = world.now
        _ = try await store.accounts.add([AccountDraft(did: World.alice)], server: World.server, now: now) { _ in now }
        // While the visit from before is under way, its account is not claimed.
        #expect(try await claim(store).isEmpty)
        #expect(try await !store.accounts.release(lease, next: now, attempted: nil, succeeded: nil))
        let later = try await claimOne(store)
        #expect(later.epoch > lease.epoch && later.generation > lease.generation && later.wasReleased)
        #expect(try await store.accounts.renew(until: until, for: LeaseTerm(from: .zero)) == [])
    }

    // MARK: - Writes

    /// The writes of a visit.
    enum Write: CaseIterable {
        case commit, claim, record, window, cycle, unchanged, stars, newStream, postpone
    }

    /// Prepares a store for the write, and returns the write.
    private func prepare(_ write: Write, _ store: Store) async throws -> () async throws -> Void {
        let (world, now) = (world, world.now)
        _ = try await world.commit(store, world.changes(1...3))
        switch write {
        case .commit: return { _ = try await world.commit(store, world.changes(4...5)) }
        case .claim: return { _ = try await world.claim(store) }
        case .record:
            let ticket = try #require(try await world.claim(store)?.tickets.first)
            return { _ = try await store.deliveries.record(ticket, .ok, now: now, maxRetries: 3) }
        case .window: return { try await store.polls.setRequestWindow([1], of: World.alice, spentAt: now) }
        case .cycle: return { try await store.polls.finishCycle(CycleRecord.make(world, .changed)) }
        case .unchanged:
            return {
                store.polls.recordUnchanged(CycleRecord.make(world, .unchanged))
                _ = try await store.status.snapshot([])
                try await store.polls.finishCycle(CycleRecord.make(world, .unchanged))
            }
        case .stars:
            return { _ = try await store.stars.set(["p"], of: World.alice, server: World.server, now: now) }
        case .newStream:
            let stream = StreamKey(account: World.alice, server: World.server, poll: PollName("other")!)
            return { _ = try await store.polls.state(stream, maxUndelivered: 1000) }
        case .postpone:
            try await world.deliverAll(store)
            let batch = try #require(
                try await store.acknowledgements.nextBatch(world.stream, limit: 9, now: now) { "key" }
            )
            return { try await store.acknowledgements.postpone(batch, until: now + .seconds(9), newKey: nil) }
        }
    }

    @Test(arguments: Write.allCases)
    func aWriteAfterATakeoverIsRefusedAndWritesNothing(_ write: Write) async throws {
        let store = try await store()
        let lease = try await claimOne(store)
        let work = try await prepare(write, store)
        let taken = try await store.claimElsewhere(owner: "second", now: until, until: until + .seconds(30))
        #expect(taken.map(\.account) == [World.alice])
        let before = try await dump()
        await #expect(throws: StoreError.leaseLost) { try await work() }
        #expect(try await dump() == before)
        // The database works.
        #expect(store.health.failure == nil)
        #expect(StoreErrorKind.allCases.allSatisfy { witness[$0.rawValue] == 0 } && witness["missed"] == 0)
        // The refusal lasts until the release, which finds that the lease is lost.
        await #expect(throws: StoreError.leaseLost) { try await work() }
        #expect(try await !store.accounts.release(lease, next: until, attempted: nil, succeeded: nil))
        #expect(try await dump() == before)
    }

    @Test(arguments: Write.allCases)
    func theSameWriteUnderALeaseWritesSomething(_ write: Write) async throws {
        let store = try await store()
        _ = try await claimOne(store)
        let work = try await prepare(write, store)
        let before = try await dump()
        try await work()
        #expect(try await dump() != before)
    }

    /// An operator's change goes to the owner, wherever the operator is.
    @Test func anOperatorChangesAnAccountWhoseLeaseIsLost() async throws {
        let store = try await store()
        _ = try await claimOne(store)
        _ = try await store.claimElsewhere(owner: "second", now: until, until: until + .seconds(30))
        try await store.accounts.makeDue(World.alice, now: world.now)
        #expect(try await store.accounts.set(.paused, of: World.alice, now: world.now)?.status == .paused)
        #expect(try await store.accounts.remove(World.alice, now: world.now) == world.now)
        #expect(try await store.identity.eraseAccount(World.alice) == .erased(isPurged: true))
    }

    @Test func aTakeoverFreesTheDeliveriesOfTheFormerOwner() async throws {
        let store = try await store()
        _ = try await claimOne(store)
        try await world.commit(store, world.changes(1...3))
        _ = try await world.claim(store, lease: .seconds(3600))
        world.now = until
        #expect(try await world.reclaim(store, until: until).isEmpty)
        let lease = try #require(try await claim(store, owner: "second").first)
        #expect(!lease.wasReleased)
        #expect(try await world.reclaim(store, until: until).count == 1)
    }

    // MARK: - Statements

    /// Otherwise another owner could claim the account between the check and the write.
    @Test func theLeaseIsCheckedFirstInTheTransaction() async throws {
        let store = try await store()
        _ = try await claimOne(store)
        try await world.commit(store, world.changes(1...3))
        let found = try await Recorded.statements(of: store) { _ = try await world.claim(store) }
        let begin = try #require(found.firstIndex { $0.hasPrefix("BEGIN IMMEDIATE") })
        #expect(found[begin + 1].contains("FROM leases"))
        let alone = try await Recorded.statements(of: store) {
            try await store.polls.setRequestWindow([1], of: World.alice, spentAt: world.now)
        }
        let first = try #require(alone.first)
        #expect(first.hasPrefix("BEGIN IMMEDIATE") && alone[1].contains("FROM leases"))
    }

    @Test func withoutALeaseNoStatementNamesThem() async throws {
        let store = try await world.open()
        let found = try await Recorded.statements(of: store) {
            try await world.commit(store, world.changes(1...3))
            try await world.deliverAll(store)
            try await store.polls.setRequestWindow([1], of: World.alice, spentAt: world.now)
        }
        #expect(found.count > 10 && !found.contains { $0.contains("leases") })
    }
}

/// Fails accesses of leases at a moment.
private final class LeaseFault: Sendable {
    let moment = Mutex<StoreMoment?>(nil)

    func interrupt(_ operation: StoreOperation, _ moment: StoreMoment) throws(StoreError) {
        if operation == .lease, self.moment.withLock({ $0 == moment }) { throw .busy }
    }
}

extension Store {
    /// Claims accounts as another process does, on a connection of its own.
    fileprivate func claimElsewhere(owner: String, now: Timestamp, until: Timestamp) throws -> [AccountLease] {
        let other = try DatabaseQueue(path: options.path)
        let before = context.changedRows
        defer { context.changedRows = before }
        return try other.write { db in
            try context.run(
                { try $0.accounts.claim(.all, limit: 9, owner: owner, now: now, until: until).map(\.lease) },
                on: db
            )
        }
    }
}

extension StoreAccounts {
    /// Ends one lease.
    ///
    /// - Returns: `false` if the lease was lost.
    func release(
        _ lease: AccountLease,
        next: Timestamp,
        attempted: Timestamp?,
        succeeded: Timestamp?
    ) async throws(StoreError) -> Bool {
        let asked = CycleTimes(attempted: attempted, succeeded: succeeded)
        return try await release([LeaseEnd(lease, next: next, asked: asked)]).isEmpty
    }
}
