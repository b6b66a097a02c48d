import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Testing

/// Sinks with `required: false`, sinks that are given up, and rows that the operator discards while they wait.
@Suite struct OptionalSinkTests {
    let world = World()

    /// A store whose sink `hook` is optional.
    private func open() async throws -> Store { try await world.open { $0.optionalSinks = ["hook"] } }

    private func record(
        _ store: Store,
        _ notification: OpenNotification,
        _ sink: String,
        _ outcome: DeliveryOutcome
    ) async throws -> DeliveryResult {
        let ticket = try #require(notification.tickets.first { $0.sink == sink })
        return try await store.deliveries.record(ticket, outcome, now: world.now, maxRetries: 3)
    }

    private func ids(_ store: Store, _ states: Set<OutboxState>, undelivered: Bool = false) async throws -> [Int64] {
        var filter = OutboxFilter()
        filter.states = states
        filter.includesUndelivered = undelivered
        return try await store.outbox.list(filter).map(\.id)
    }

    private func due(_ store: Store) async throws -> [OpenNotification] {
        try await world.reclaim(store, until: world.now + .seconds(60))
    }

    @Test func rowsAreDeliveredAndAcknowledgedWhileAnOptionalSinkIsDown() async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...2))
        let open = try #require(try await world.claim(store, sinks: ["log", "hook"]))
        #expect(try await record(store, open, "hook", .unavailable(nextAttemptAt: world.now + .seconds(1))) == .waiting)
        #expect(try await record(store, open, "log", .ok) == .delivered([world.id(1), world.id(2)]))
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        #expect(try await store.acknowledgements.watermark(world.stream) == world.id(2))

        world.now = world.now + .seconds(1)
        let again = try await due(store)
        #expect(again.map(\.id) == ["ntf_1"])
        #expect(again[0].tickets.map(\.sink) == ["hook"])
        #expect(try await record(store, again[0], "hook", .ok) == .delivered([]))
        #expect(try await store.deliveries.nextAt(of: world.account) == nil)
        #expect(try await store.outboxCounts()[.claimed] == 0)
        try await world.expectBalanced(store)
    }

    @Test func theWatermarkWaitsForEveryRequiredSink() async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...2))
        let open = try #require(try await world.claim(store, sinks: ["log", "file", "hook"]))
        #expect(try await record(store, open, "hook", .ok) == .waiting)
        #expect(try await record(store, open, "log", .ok) == .waiting)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        #expect(try await store.acknowledgements.watermark(world.stream) == nil)
        #expect(try await record(store, open, "file", .ok) == .delivered([world.id(1), world.id(2)]))
    }

    @Test func anOptionalSinkThatIsGivenUpIsADeadLetterThatCanBeRetriedAndDiscarded() async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...2))
        let open = try #require(try await world.claim(store, sinks: ["log", "hook"]))
        _ = try await record(store, open, "log", .ok)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        _ = try await record(store, open, "hook", .givenUp(isAttempt: false))
        #expect(try await ids(store, [.dead]) == [])
        let letters = try await ids(store, [.dead], undelivered: true)
        #expect(letters.count == 2)
        #expect(try await store.outbox.ids(.dead, poll: nil, of: world.account) == letters)
        #expect(try await store.status.snapshot([world.stream]).undelivered == 1)
        let shown = try #require(try await store.outbox.row(letters[0]))
        #expect(shown.row.undeliveredTo == ["hook"])
        #expect(shown.deliveries.map(\.state) == [.givenUp, .ok])

        world.now = world.now + .seconds(3600)
        #expect(
            try await store.outbox.retry(
                [letters[0]],
                of: world.account,
                sinks: ["log", "hook"],
                now: world.now,
                make: renewed
            ) == 1
        )
        let again = try await due(store)
        #expect(again.map(\.id) == ["ntf_1"])
        #expect(again.flatMap(\.tickets).map(\.sink) == ["hook"])
        #expect(again.flatMap(\.tickets).map(\.dueSince) == [world.now])
        _ = try await record(store, again[0], "hook", .givenUp(isAttempt: true))
        try await world.expectBalanced(store)

        #expect(try await store.outbox.discard(letters, now: world.now, make: renewed) == 2)
        #expect(try await ids(store, [.dead], undelivered: true) == [])
        #expect(try await store.status.snapshot([world.stream]).undelivered == 0)
        #expect(try await store.outboxCounts()[.dead] == 0)
        #expect(try await ids(store, [.acknowledged]).count == 2)
        try await world.expectBalanced(store)
    }

    /// The status must count what the list shows, or nobody could end the reason `dead_letters`.
    @Test func aDiscardedNotificationIsNoDeadLetterWhenItsOptionalSinkIsGivenUpLater() async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...2))
        let open = try #require(try await world.claim(store, sinks: ["log", "file", "hook"]))
        _ = try await record(store, open, "file", .ok)
        _ = try await record(store, open, "log", .givenUp(isAttempt: true))
        #expect(try await store.outbox.discard(try await ids(store, [.dead]), now: world.now, make: renewed) == 2)
        _ = try await record(store, open, "hook", .givenUp(isAttempt: false))
        #expect(try await ids(store, [.dead], undelivered: true) == [])
        #expect(try await store.status.snapshot([world.stream]).undelivered == 0)
    }

    /// The sink can have accepted it, and its answer was lost. By the id it knows what it has.
    @Test(arguments: [["log"], ["hook"]])
    func aRetryAfterASinkWasGivenUpKeepsTheNotification(sinks: [String]) async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...2))
        let open = try #require(try await world.claim(store, sinks: ["log"]))
        _ = try await record(store, open, "log", .givenUp(isAttempt: true))
        let dead = try await ids(store, [.dead])
        #expect(try await store.outbox.retry(dead, of: world.account, sinks: sinks, now: world.now, make: renewed) == 2)
        // A sink that is no longer configured gets nothing, so that the others get a new notification.
        #expect(try await ids(store, [.claimed]).count == (sinks == ["log"] ? 2 : 0))
        #expect(try await ids(store, [.pending]).count == (sinks == ["log"] ? 0 : 2))
        let later = world.now + .seconds(1)
        let again = try await world.reclaim(store, at: later, until: later + .seconds(120))
        #expect(again.map(\.outgoing.id) == (sinks == ["log"] ? [open.outgoing.id] : []))
        try await world.expectBalanced(store)
    }

    @Test func aNotificationThatIsGivenUpWithoutAnAttemptKeepsTheReason() async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...1))
        let open = try #require(try await world.claim(store, sinks: ["log", "hook"]))
        let ticket = try #require(open.tickets.first { $0.sink == "hook" })
        _ = try await store.deliveries.record(
            ticket,
            .givenUp(isAttempt: false),
            reason: FailureReason(.connect),
            now: world.now,
            maxRetries: 3
        )
        let shown = try #require(try await store.outbox.row(1))
        #expect(shown.deliveries.first { $0.sink == "hook" }?.reason == FailureReason(.connect))
    }

    @Test func aWrongClockDeletesNoDeadLetterOfAnOptionalSink() async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...2))
        let open = try #require(try await world.claim(store, sinks: ["log", "hook"]))
        _ = try await record(store, open, "log", .ok)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        _ = try await record(store, open, "hook", .givenUp(isAttempt: false))
        try await world.commit(store, world.changes(100...200))
        var policy = RetentionPolicy()
        policy.spareWhatIsIrreplaceable()
        _ = try await store.retention.apply(policy, now: world.now + .days(3650))
        #expect(try await store.status.snapshot([world.stream]).undelivered == 1)
        #expect(try await ids(store, [.dead], undelivered: true).count == 2)
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(3650))
        #expect(try await store.status.snapshot([world.stream]).undelivered == 0)
    }

    /// Decided: the limit of a required sink ends its rows as rejections do. They are dead, so never acknowledged.
    @Test func aRequiredSinkThatIsGivenUpMakesItsRowsDeadLetters() async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...2))
        let open = try #require(try await world.claim(store, sinks: ["log", "file", "hook"]))
        _ = try await record(store, open, "file", .ok)
        #expect(try await record(store, open, "log", .givenUp(isAttempt: true)) == .dead([world.id(1), world.id(2)]))
        let completion = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        #expect(completion.acknowledged == 0)
        try await world.expectBalanced(store)

        // Only the sink that did not get it is retried, and the optional one stays due under the same id.
        let dead = try await ids(store, [.dead])
        #expect(
            try await store.outbox.retry(
                dead,
                of: world.account,
                sinks: ["log", "file", "hook"],
                now: world.now,
                make: renewed
            ) == 2
        )
        #expect(try await store.outboxCounts()[.claimed] == 2)
        world.now = world.now + .seconds(61)
        let again = try await due(store)
        #expect(again.map(\.id) == ["ntf_1"])
        #expect(again[0].tickets.map(\.sink) == ["hook", "log"])
        #expect(try await record(store, again[0], "log", .ok) == .delivered([world.id(1), world.id(2)]))
        #expect(try await record(store, again[0], "hook", .ok) == .delivered([]))
        try await world.expectBalanced(store)
    }

    @Test func aDeadRowWhoseOptionalSinkIsStillDueIsNotAnnouncedToItTwice() async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...1))
        let open = try #require(try await world.claim(store, sinks: ["log", "hook"]))
        #expect(try await record(store, open, "log", .givenUp(isAttempt: true)) == .dead([world.id(1)]))
        let dead = try await ids(store, [.dead])
        #expect(
            try await store.outbox.retry(
                dead,
                of: world.account,
                sinks: ["log", "hook"],
                now: world.now,
                make: renewed
            ) == 1
        )
        #expect(try await store.outboxCounts()[.pending] == 0)
        world.now = world.now + .seconds(61)
        #expect(try await due(store).map(\.id) == ["ntf_1"])
    }

    @Test func whereNoRequiredSinkIsLeftOneAcceptanceIsEnough() async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...1))
        let open = try #require(try await world.claim(store, sinks: ["log", "hook"]))
        #expect(try await record(store, open, "log", .gone) == .waiting)
        #expect(try await record(store, open, "hook", .ok) == .delivered([world.id(1)]))
        try await world.expectBalanced(store)
    }

    @Test func aReloadThatMakesASinkOptionalReleasesTheRowsThatWaitForIt() async throws {
        let former = try await world.open()
        try await world.commit(former, world.changes(1...3))
        let open = try #require(try await world.claim(former, sinks: ["log", "hook"]))
        #expect(try await record(former, open, "log", .ok) == .waiting)
        await former.close()
        let store = try await self.open()
        let delivered = DeliveryResult.delivered((1...3).map { world.id($0) })
        #expect(
            try await store.deliveries.retainSinks(["log", "hook"], of: world.account, now: world.now) == [delivered]
        )
        #expect(try await store.outboxCounts()[.claimed] == 0)
        // The sink still gets it.
        #expect(try await due(store).flatMap(\.tickets).map(\.sink) == ["hook"])
        try await world.expectBalanced(store)
    }

    /// A sink can be down for 14 days, and rows stay for 7. What it is given up for would be no dead letter.
    @Test func aRowStaysWhileAnOptionalSinkIsDue() async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...2))
        let open = try #require(try await world.claim(store, sinks: ["log", "hook"]))
        _ = try await record(store, open, "log", .ok)
        _ = try await record(store, open, "hook", .unavailable(nextAttemptAt: world.now + .days(9)))
        // Rows near the cursor stay anyway.
        try await world.commit(store, [world.change(100_000)])
        let later = try #require(try await world.claim(store, id: "ntf_2"))
        _ = try await record(store, later, "log", .ok)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        world.now = world.now + .days(9)
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now).outbox == 0)
        let again = try #require(try await due(store).first)
        _ = try await record(store, again, "hook", .givenUp(isAttempt: true))
        #expect(try await ids(store, [.dead], undelivered: true).count == 2)
        try await world.expectBalanced(store)
    }

    @Test func aDeadLetterOfAnOptionalSinkIsKeptForThirtyDays() async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...2))
        let open = try #require(try await world.claim(store, sinks: ["log", "hook"]))
        _ = try await record(store, open, "log", .ok)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        _ = try await record(store, open, "hook", .givenUp(isAttempt: true))
        // Rows near the cursor stay anyway.
        try await world.commit(store, [world.change(100_000)])
        try await world.deliverAll(store)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        world.now = world.now + .days(29)
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now)
        let letters = try await ids(store, [.dead], undelivered: true)
        #expect(letters.count == 2)
        #expect(try await store.outbox.row(letters[0])?.deliveries.map(\.state) == [.givenUp, .ok])
        world.now = world.now + .days(2)
        for _ in 0..<2 { _ = try await store.retention.apply(RetentionPolicy(), now: world.now) }
        #expect(try await ids(store, [.dead], undelivered: true) == [])
        #expect(try await ids(store, [.acknowledged]).count == 1)
        try await world.expectBalanced(store)
    }

    @Test func claimedRowsCanBeDiscardedAndNoLongerHoldTheWatermark() async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...3))
        let open = try #require(try await world.claim(store, sinks: ["log"]))
        let claimed = try await store.outbox.ids(.claimed, poll: nil, of: nil)
        #expect(claimed.count == 3)
        #expect(try await store.outbox.discard([claimed[0]], now: world.now, make: renewed) == 1)
        // Two of its rows still wait, so the notification is sent.
        #expect(try await store.deliveries.nextAt(of: world.account) != nil)
        #expect(try await store.outbox.discard([claimed[1], claimed[2]], now: world.now, make: renewed) == 2)
        #expect(try await store.deliveries.nextAt(of: world.account) == nil)
        #expect(try await record(store, open, "log", .ok) == .stale)
        let ledger = try await store.status.ledger(world.stream)
        #expect(ledger.cancelled == 3 && ledger.dead == 0 && ledger.delivered == 0)
        try await world.expectBalanced(store)
        #expect(
            try await store.acknowledgements.advanceWatermark(world.stream, now: world.now)
                == .advanced(to: world.id(3))
        )
        // They are not news when the server sends them again.
        try await world.commit(store, world.changes(1...3))
        #expect(try await store.outboxCounts()[.pending] == 0)
    }

    @Test func evictionCountsClaimedRowsWhoseSinkIsDown() async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...8))
        let open = try #require(try await world.claim(store, sinks: ["log"]))
        _ = try await record(store, open, "log", .unavailable(nextAttemptAt: world.now + .seconds(60)))
        try await world.commit(store, world.changes(9...12))
        // Twelve rows wait, eight of them for the sink. Only pending rows can be evicted.
        #expect(try await world.evict(store, .fifo, limit: 10) == 3)
        #expect(try await store.outboxCounts()[.claimed] == 8)
        try await world.expectBalanced(store)
    }

    @Test func aClockThatIsSetBackDoesNotPostponeGivingUp() async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...1))
        world.now = world.now + .days(1)
        let open = try #require(try await world.claim(store, sinks: ["log"]))
        _ = try await record(store, open, "log", .unavailable(nextAttemptAt: world.now + .seconds(5)))
        world.now = world.now - .days(1)
        try await store.deliveries.settleFutureTimes(
            of: world.account,
            now: world.now,
            local: world.now,
            lease: .seconds(120),
            longestWait: .seconds(75)
        )
        world.now = world.now + .seconds(5)
        #expect(try await due(store).flatMap(\.tickets).map(\.dueSince) == [world.now])
    }
}
