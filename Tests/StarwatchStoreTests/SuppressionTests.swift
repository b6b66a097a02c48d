import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Testing

/// One notification for each claim, whichever polls see it.
@Suite struct SuppressionTests {
    let world = World()
    let second = StreamKey(account: World.alice, server: World.server, poll: PollName("second")!)
    private var both: [PollName] { [world.stream.poll, second.poll] }

    private func open() async throws -> Store {
        try await world.open { $0.polls.insert(PollName("second")!) }
    }

    /// Commits the first change to a stream that overlaps with the other.
    @discardableResult
    private func see(_ stream: StreamKey, _ store: Store, room: Int = 1000) async throws -> PageCommitCounts? {
        try await world.commit(store, [world.change(1)], room: room, stream: stream) { $0.overlapping = both }
    }

    private func rows(_ stream: StreamKey, _ store: Store) async throws -> [OutboxRow] {
        var filter = OutboxFilter()
        filter.poll = stream.poll
        return try await store.outbox.list(filter)
    }

    private func states(_ store: Store) async throws -> [OutboxState] {
        [try await rows(world.stream, store)[0].state, try await rows(second, store)[0].state]
    }

    @Test func whatOnePollAnnouncesTheOtherOnlyCounts() async throws {
        let store = try await open()
        try await see(world.stream, store)
        let counts = try #require(try await see(second, store))
        #expect(counts.inserted == 1 && counts.suppressed == 1)
        let row = try #require(try await rows(second, store).first)
        #expect(row.state == .suppressed && row.reason == .announced)
        #expect(row.announcedBy == world.stream.poll.rawValue)
        #expect(try await rows(world.stream, store)[0].reason == nil)
        let ledger = try await store.status.ledger(second)
        #expect(ledger.fetched == 1 && ledger.new == 1 && ledger.suppressed == 1)
        try await world.expectBalanced(store)
        // It is acknowledged, and the watermark passes it.
        _ = try await store.acknowledgements.completeLocally(second, now: world.now)
        #expect(try await store.acknowledgements.watermark(second) == world.id(1))
        try await world.expectBalanced(store)
    }

    /// The server must not learn of it before a sink has it.
    @Test func aCopyIsAcknowledgedOnlyAfterTheDeliveryOfTheOther() async throws {
        let store = try await open()
        try await see(world.stream, store)
        try await see(second, store)
        func batch() async throws -> AckBatch? {
            try await store.acknowledgements.nextBatch(second, limit: 100, now: world.now) { "key" }
        }
        #expect(try await batch() == nil)
        try await world.deliverAll(store)
        #expect(try await batch()?.ids == [world.id(1)])
    }

    @Test(arguments: ["pending", "claimed", "delivered", "acknowledged", "dead", "discarded"])
    func aRowThatWasOrWillBeAnnouncedCounts(state: String) async throws {
        let store = try await open()
        try await see(world.stream, store)
        switch state {
        case "claimed": _ = try await world.claim(store)
        case "delivered", "acknowledged": try await world.deliverAll(store)
        case "dead", "discarded": try await world.killAll(store)
        default: break
        }
        if state == "acknowledged" {
            _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        }
        if state == "discarded" {
            _ = try await store.outbox.discard(
                try await rows(world.stream, store).map(\.id),
                now: world.now,
                make: renewed
            )
        }
        try await see(second, store)
        #expect(try await rows(second, store).map(\.state) == [.suppressed])
        try await world.expectBalanced(store)
    }

    @Test func aRowThatWasNeverAnnouncedDoesNotCount() async throws {
        for disposition in [PageCommit.Disposition.bootstrap, .suppress] {
            let world = World()
            let store = try await world.open { $0.polls.insert(PollName("second")!) }
            try await world.commit(store, [world.change(1)]) { $0.disposition = disposition }
            let counts = try await world.commit(store, [world.change(1)], stream: second) { $0.overlapping = both }
            #expect(counts?.suppressed == 0)
            try await world.expectBalanced(store)
        }
    }

    /// The poll whose row was evicted fetches it again when there is room.
    @Test func anEvictedRowThatTheOtherPollAnnouncedIsFinishedWhenItComesBack() async throws {
        let store = try await open()
        try await see(world.stream, store)
        #expect(try await world.evict(store, .fifo, limit: 0) == 1)
        try await see(second, store)
        #expect(try await states(store) == [.evicted, .pending])
        // Even without room, because it needs none.
        let counts = try #require(try await see(world.stream, store, room: 0))
        #expect(counts.settled == 1 && counts.refetched == 0 && !counts.outOfRoom)
        #expect(try await states(store) == [.suppressed, .pending])
        try await world.expectBalanced(store)
    }

    @Test func anEvictedRowThatNobodyAnnouncedIsAnnouncedByItsOwnPoll() async throws {
        let store = try await open()
        try await see(world.stream, store)
        try await see(second, store)
        #expect(try await world.evict(store, .fifo, limit: 0) == 1)
        #expect(try await states(store) == [.evicted, .suppressed])
        #expect(try await see(world.stream, store)?.refetched == 1)
        #expect(try await states(store) == [.pending, .suppressed])
        try await world.expectBalanced(store)
    }

    @Test func anIdentityThatReturnsIsToldOnce() async throws {
        let store = try await open()
        try await see(world.stream, store)
        try await see(second, store)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        for stream in [second, world.stream, second] { try await see(stream, store) }
        #expect(try await states(store).sorted { $0.rawValue < $1.rawValue } == [.pending, .suppressed])
        try await world.expectBalanced(store)
    }

    @Test func otherAccountsServersAndPollsOfOtherKindsAreTold() async throws {
        let store = try await open()
        try await see(world.stream, store)
        let elsewhere = StreamKey(account: World.alice, server: "https://other.example", poll: second.poll)
        #expect(try await see(elsewhere, store)?.suppressed == 0)
        let counts = try await world.commit(store, [world.change(1)], stream: second)
        #expect(counts?.suppressed == 0)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        let bob = StreamKey(account: World.bob, server: World.server, poll: second.poll)
        #expect(try await see(bob, store)?.suppressed == 0)
    }

    @Test func ownClaimsAreStoredAndNotAnnounced() async throws {
        let store = try await open()
        let counts = try await world.commit(store, world.changes(1...2)) { page in
            page.edit(world.id(2)) { $0.isOwn = true }
        }
        #expect(counts?.inserted == 2 && counts?.suppressed == 1)
        let found = try await rows(world.stream, store)
        #expect(found.map(\.state) == [.pending, .suppressed])
        #expect(found.map(\.reason) == [nil, .own])
        #expect(found[1].announcedBy == nil)
        try await world.expectBalanced(store)
        // Neither the other poll's.
        try await world.commit(store, world.changes(1...2), stream: second) { page in
            page.edit(world.id(2)) { $0.isOwn = true }
            page.overlapping = both
        }
        #expect(try await rows(second, store).map(\.reason) == [.announced, .own])
        try await world.expectBalanced(store)
    }

    /// Opens a store with gifts to a starred plan, which the other poll also sees as gifts to the person.
    private func openWithGifts(_ change: (inout StoreOptions) -> Void = { _ in }) async throws -> Store {
        let store = try await world.open { options in
            options.polls.insert(second.poll)
            options.pollsOfKind = [.givesToStarred: [second.poll], .givesToMe: [world.stream.poll]]
            change(&options)
        }
        _ = try await store.stars.set(["plan"], of: World.alice, server: World.server, now: world.now)
        try await see(second, store)
        try await see(world.stream, store)
        #expect(try await states(store) == [.suppressed, .pending])
        return store
    }

    private func unstar(_ store: Store) async throws {
        _ = try await store.stars.remove(["plan"], of: World.alice, server: World.server, now: world.now)
    }

    @Test func anotherPollAnnouncesWhatItsPollLostWithAStar() async throws {
        let store = try await openWithGifts()
        // Its row was only counted, and a server that learns of nothing has nothing to wait for.
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        try await unstar(store)
        #expect(try await states(store) == [.pending, .suppressed])
        let row = try await rows(world.stream, store)[0]
        #expect(row.reason == nil && row.acknowledgedAt == nil && row.finishedAt == nil)
        #expect(try await rows(second, store)[0].reason == .unstarred)
        try await world.expectBalanced(store)

        #expect(try await world.deliverAll(store) == 1)
        #expect(try await store.acknowledgements.completeLocally(world.stream, now: world.now).acknowledged == 1)
        let ledger = try await store.status.ledger(world.stream)
        #expect(ledger.delivered == 1 && ledger.acknowledged == 1 && ledger.suppressed == 0)
        try await world.expectBalanced(store)
    }

    @Test func whatAnotherPollIsStillToAnnounceIsKept() async throws {
        let store = try await openWithGifts()
        // Far from the first one, because rows near the cursor stay anyway.
        for stream in [second, world.stream] {
            try await world.commit(store, [world.change(100_000)], stream: stream) { $0.overlapping = both }
        }
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(8)).outbox == 0)
        try await unstar(store)
        #expect(try await rows(world.stream, store).map(\.state) == [.pending, .pending])
    }

    @Test func ofTwoPollsThatCountedItOneAnnouncesIt() async throws {
        let third = StreamKey(account: World.alice, server: World.server, poll: PollName("third")!)
        let store = try await openWithGifts { options in
            options.polls.insert(third.poll)
            options.pollsOfKind[.givesToMyProjects] = [third.poll]
        }
        let all = both + [third.poll]
        try await world.commit(store, [world.change(1)], stream: third) { $0.overlapping = all }
        #expect(try await rows(third, store)[0].state == .suppressed)
        try await unstar(store)
        #expect(try await states(store) == [.pending, .suppressed])
        #expect(try await rows(third, store)[0].state == .suppressed)
        try await world.expectBalanced(store)
    }

    @Test func whatAnotherPollAnnouncesWaitsFromThenOnAndWasNotFetchedAgain() async throws {
        let witness = Witness()
        let store = try await openWithGifts { $0.observer = witness }
        let later = world.now + .seconds(864_000)
        _ = try await store.stars.remove(["plan"], of: World.alice, server: World.server, now: later)
        let row = try await rows(world.stream, store)[0]
        #expect(row.state == .pending && row.createdAt == later)
        #expect(witness["refetched"] == 0)
    }

    @Test func anEvictedRowThatIsUnstarredIsAnnouncedByAnotherPollToo() async throws {
        let store = try await openWithGifts()
        #expect(try await world.evict(store, .fifo, limit: 0) == 1)
        try await unstar(store)
        #expect(try await states(store) == [.pending, .suppressed])
        try await world.expectBalanced(store)
    }

    @Test func aCopyOfAnEvictedAndAPendingRowIsAnnouncedOnceAndCountedOnce() async throws {
        let third = StreamKey(account: World.alice, server: World.server, poll: PollName("third")!)
        let store = try await world.open {
            $0.polls.formUnion([second.poll, third.poll])
            $0.pollsOfKind = [.givesToStarred: [second.poll, third.poll], .givesToMe: [world.stream.poll]]
        }
        _ = try await store.stars.set(["plan"], of: World.alice, server: World.server, now: world.now)
        try await see(second, store)
        #expect(try await world.evict(store, .fifo, limit: 0) == 1)
        for stream in [third, world.stream] {
            try await world.commit(store, [world.change(1)], stream: stream) { $0.overlapping = both + [third.poll] }
        }
        #expect(try await states(store) == [.suppressed, .evicted])
        #expect(try await rows(third, store).map(\.state) == [.pending])
        try await unstar(store)
        #expect(try await states(store) == [.pending, .suppressed])
        #expect(try await store.status.ledger(world.stream).suppressed == 0)
        try await world.expectBalanced(store)
    }

    /// Its own poll does not fetch it any more.
    @Test func aTombstoneThatTheServerNoLongerSendsIsAnnouncedByAnotherPoll() async throws {
        let store = try await openWithGifts()
        #expect(try await world.evict(store, .fifo, limit: 0) == 1)
        let walkStart = world.now + .seconds(1)
        let counts = try await world.commit(store, [], stream: second) {
            $0.completed = .init(after: nil, through: world.id(9), startedAt: walkStart)
        }
        #expect(counts?.superseded == 1 && counts?.passedOn == 1)
        #expect(try await states(store) == [.pending, .cancelled])
        try await world.expectBalanced(store)
    }

    @Test func aTombstoneOfAFormerDialectIsAnnouncedByAnotherPoll() async throws {
        let store = try await openWithGifts()
        #expect(try await world.evict(store, .fifo, limit: 0) == 1)
        #expect(try await store.servers.rememberDialect(.canonical, of: World.server, now: world.now))
        #expect(try await states(store) == [.pending, .cancelled])
        try await world.expectBalanced(store)
    }

    @Test func aPollThatIsSwitchedOffAnnouncesNothingInAnothersPlace() async throws {
        let store = try await openWithGifts()
        _ = try await store.stars.setOptedOut(
            true,
            from: .givesToMe,
            of: World.alice,
            server: World.server,
            now: world.now
        )
        try await unstar(store)
        #expect(try await states(store) == [.suppressed, .suppressed])
        try await world.expectBalanced(store)
    }

    @Test func aPollThatIsDisabledAnnouncesNothingInAnothersPlace() async throws {
        let store = try await openWithGifts { $0.disabledPolls = [world.stream.poll] }
        try await unstar(store)
        #expect(try await states(store) == [.suppressed, .suppressed])
        try await world.expectBalanced(store)
    }

    @Test func onlyAPollThatAnnouncesAClaimIsNamedAsTheOneThatDoes() async throws {
        let store = try await openWithGifts { $0.disabledPolls = [world.stream.poll] }
        func named() async throws -> String? { try await rows(world.stream, store)[0].announcedBy }
        #expect(try await named() == second.poll.rawValue)
        #expect(try await world.evict(store, .fifo, limit: 0) == 1)
        #expect(try await named() == nil)
        try await see(second, store)
        #expect(try await named() == second.poll.rawValue)
        try await unstar(store)
        #expect(try await rows(world.stream, store)[0].reason == .announced)
        #expect(try await named() == nil)
        #expect(RowReason.announced.sentence(announcedBy: nil) == "Another poll had the same claim.")
    }

    @Test func whatASinkHasIsNotAnnouncedByAnotherPollAfterAnUnstar() async throws {
        let store = try await openWithGifts()
        // The rows of a notification that is on its way stay in it.
        let claimed = try await store.deliveries.claim(
            second,
            now: world.now,
            limit: 9,
            leaseUntil: world.now + .seconds(60),
            sinks: ["log"]
        ) { rows, _ in (.made("ntf_1", count: rows.count), nil) }
        #expect(claimed.count == 1)
        try await unstar(store)
        #expect(try await states(store) == [.suppressed, .claimed])
    }

    @Test func suppressedRowsNeedNoRoom() async throws {
        let store = try await open()
        let counts = try #require(
            try await world.commit(store, world.changes(1...3), room: 2) { page in
                page.edit(world.id(1)) { $0.isOwn = true }
            }
        )
        #expect(counts.inserted == 3 && !counts.outOfRoom)
    }

    /// The former claim is later than the last one known of the plan, and has no row.
    @Test func aChangeThatWasReplacedUnseenIsCounted() async throws {
        let store = try await open()
        func commit(_ n: Int, previous: Int?) async throws -> Int? {
            try await world.commit(store, [world.change(n)]) { page in
                page.edit(world.id(n)) {
                    $0.details = PlanDetails([.name: "\(n)"])
                    $0.previous = previous.map { world.id($0) }
                }
            }?.unseen
        }
        // Nothing is known of the plan before.
        #expect(try await commit(2, previous: 1) == 0)
        #expect(try await commit(3, previous: 2) == 0)
        #expect(try await commit(5, previous: 4) == 1)
        #expect(try await commit(6, previous: nil) == 0)
        // Fetched again, it is not counted again.
        #expect(try await commit(5, previous: 4) == 0)
    }
}
