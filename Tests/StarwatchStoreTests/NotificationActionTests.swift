import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Testing

/// Actions on notifications, which change nothing else.
@Suite struct NotificationActionTests {
    let world = World()
    static let first = "ntf_00000000000000000000000000000009"

    /// Claims all pending rows as a real notification.
    @discardableResult
    private func announce(_ store: Store, id: String = first) async throws -> OpenNotification {
        let (stream, now) = (world.stream, world.now)
        let open = try await store.deliveries.claim(
            stream,
            now: now,
            limit: 1000,
            leaseUntil: now + .seconds(60),
            sinks: ["log"]
        ) { rows, _ in
            let message = NotificationMessage(
                id: id,
                runID: "run",
                poll: stream.poll,
                kind: .starredProjects,
                changes: rows.map(\.change),
                context: NotificationContext(largestGroup: 5),
                createdAt: now
            )
            return (OutgoingNotification(message), nil)
        }
        return try #require(open.first)
    }

    private func act(_ store: Store, _ action: NotificationAction, on id: String = first) async throws -> ActionResult {
        try await store.notifications.act(action, on: id, of: world.account, sinks: ["log", "hook"], now: world.now)
    }

    @Test func actionsAreStoredOnceWithTheirTime() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        try await announce(store)
        guard case .done(let record) = try await act(store, .markRead) else {
            Issue.record("it was not done")
            return
        }
        #expect(record.doneAt == world.now && record.repetition == nil)
        let then = world.now
        world.now = world.now + .seconds(10)
        #expect(try await act(store, .markRead) == .already(record))
        let stored = try #require(try await store.notifications.find(Self.first, of: world.account))
        #expect(stored.actions == [record])
        #expect(stored.actions[0].doneAt == then)
        #expect(try await store.notifications.jwts(of: stored, world.account) == (1...3).map(world.id))
    }

    @Test func onlyOfferedActionsAreAccepted() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        try await announce(store)
        #expect(try await act(store, .viewProject) == .notOffered)
        #expect(try await act(store, .dismiss, on: "ntf_unknown") == .unknown)
        #expect(
            try await store.notifications.act(.snooze, on: Self.first, of: world.account, sinks: [], now: world.now)
                == .noSinks
        )
        #expect(try await store.notifications.find(Self.first, of: world.account)?.actions == [])
    }

    @Test func aSnoozeRepeatsTheNotificationAnHourLaterWithANewID() async throws {
        var store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        let open = try await announce(store)
        _ = try await store.deliveries.record(open.tickets[0], .ok, now: world.now, maxRetries: 3)
        guard case .done(let record) = try await act(store, .snooze), let id = record.repetition else {
            Issue.record("it was not done")
            return
        }
        #expect(id == "ntf_0000000000000000000000000000000a")
        #expect(try await act(store, .snooze) == .already(record))
        #expect(try await store.deliveries.nextAt(of: world.account) == world.now + .seconds(3600))
        world.now = world.now + .seconds(3599)
        #expect(try await world.reclaim(store, until: world.now + .seconds(60)).isEmpty)
        await store.close()
        store = try await world.open()
        world.now = world.now + .seconds(1)
        let due = try await world.reclaim(store, until: world.now + .seconds(60))
        #expect(due.map(\.id) == [id])
        #expect(due.first?.tickets.map(\.sink) == ["hook", "log"])
        let message = try #require(NotificationMessage(json: due.first?.outgoing.payload ?? []))
        let former = try #require(NotificationMessage(json: open.outgoing.payload))
        #expect(message == former.repeated(id: id, of: Self.first))
        #expect(message.repeats == Self.first && message.collapseKey == former.collapseKey)
        #expect(message.body == former.body && message.changes == former.changes)

        // A repetition can be snoozed again; it still refers to the first notification.
        guard case .done(let again) = try await act(store, .snooze, on: id) else {
            Issue.record("it was not done")
            return
        }
        #expect(again.repetition == "ntf_0000000000000000000000000000000b")
        #expect(
            try await store.notifications.find(#require(again.repetition), of: world.account)?.repeats == Self.first
        )
    }

    /// Retention can have deleted an earlier repetition, so counting repetitions does not give a free id.
    @Test func aRepetitionCanBeSnoozedAfterAnEarlierOneWasDeleted() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        let open = try await announce(store)
        for ticket in open.tickets { _ = try await store.deliveries.record(ticket, .ok, now: world.now, maxRetries: 3) }
        var last = Self.first
        for number in 1...3 {
            guard case .done(let record) = try await act(store, .snooze, on: last), let id = record.repetition else {
                Issue.record("\(number) was not done")
                return
            }
            last = id
            world.now = world.now + .seconds(number == 1 ? 3600 : 31 * 86_400)
            for due in try await world.reclaim(store, until: world.now + .seconds(60)) {
                for ticket in due.tickets {
                    _ = try await store.deliveries.record(ticket, .ok, now: world.now, maxRetries: 3)
                }
            }
            _ = try await store.retention.apply(RetentionPolicy(), now: world.now)
        }
        #expect(last == "ntf_0000000000000000000000000000000c")
    }

    @Test func aSnoozeWithoutSinksWaitsForOthersAndKeepsItsTime() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        let open = try await announce(store)
        _ = try await store.deliveries.record(open.tickets[0], .ok, now: world.now, maxRetries: 3)
        guard case .done(let record) = try await act(store, .snooze), let id = record.repetition else {
            Issue.record("it was not done")
            return
        }
        #expect(try await store.deliveries.retainSinks(["new"], of: world.account, now: world.now).isEmpty)
        #expect(try await store.notifications.find(id, of: world.account)?.state == .open)
        try await store.deliveries.readdress(of: world.account, to: [], now: world.now)
        #expect(try await store.deliveries.nextAt(of: world.account) == nil)
        try await store.deliveries.readdress(of: world.account, to: ["new"], now: world.now)
        #expect(try await store.deliveries.nextAt(of: world.account) == world.now + .seconds(3600))
        world.now = world.now + .seconds(3600)
        // The new sink asks for a wait. It is asked again after the next start.
        for outcome in [DeliveryOutcome.gone, .ok] {
            try await store.deliveries.readdress(of: world.account, to: ["new"], now: world.now)
            let due = try await world.reclaim(store, until: world.now + .seconds(60))
            #expect(due.map(\.id) == [id])
            let ticket = try #require(due.first?.tickets.first)
            #expect(ticket.sink == "new" && due.first?.tickets.count == 1)
            _ = try await store.deliveries.record(ticket, outcome, now: world.now, maxRetries: 3)
        }
        #expect(try await store.notifications.find(id, of: world.account)?.state == .delivered)
        try await store.deliveries.readdress(of: world.account, to: ["other"], now: world.now)
        #expect(try await store.deliveries.nextAt(of: world.account) == nil)
        try await world.expectBalanced(store)
    }

    @Test func aChangeOfIdentityCancelsASnoozeAndHidesTheList() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        try await announce(store)
        _ = try await act(store, .snooze)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        #expect(try await store.deliveries.nextAt(of: world.account) == nil)
        #expect(try await act(store, .dismiss) == .unknown)
        #expect(try await store.notifications.list(of: World.bob, limit: 10).isEmpty)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        #expect(
            try await store.notifications.list(of: world.account, limit: 10).map(\.state) == [.cancelled, .cancelled]
        )
    }

    @Test func aClockSetBackDoesNotExtendASnooze() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        try await announce(store)
        _ = try await act(store, .snooze)
        let back = world.now - .seconds(86_400)
        try await store.deliveries.settleFutureTimes(
            of: world.account,
            now: back,
            local: back,
            lease: .seconds(120),
            longestWait: .seconds(75)
        )
        #expect(try await world.reclaim(store, at: back + .seconds(3600), until: back).count == 2)
    }

    @Test func theListHasTheNewestFirstAndHasPages() async throws {
        let store = try await world.open()
        for n in 1...5 {
            try await world.commit(store, [world.change(n)])
            try await announce(store, id: "ntf_\(n)")
        }
        let page = try await store.notifications.list(of: world.account, limit: 2)
        #expect(page.map(\.id) == ["ntf_5", "ntf_4"])
        #expect(
            try await store.notifications.list(of: world.account, limit: 2, before: page[1].row).map(\.id) == [
                "ntf_3", "ntf_2",
            ]
        )
    }

    /// For any actions in any order between any deliveries: rows, ledger, batches and watermark equal those of a store
    /// without actions.
    @Test(arguments: 1...12)
    func actionsTouchNeitherAcknowledgementNorLedgerNorWatermark(_ seed: Int) async throws {
        let (acted, left) = (NotificationActionTests(), NotificationActionTests())
        let stores = [try await acted.world.open(), try await left.world.open()]
        var random = SeededGenerator(state: UInt64(seed))
        var known: [String] = []
        for round in 1...12 {
            let id = "ntf_" + String(repeating: "0", count: 24) + String(10_000_000 + round * 100)
            let count = Int.random(in: 1...7, using: &random)
            let fate = Int.random(in: 0...2, using: &random)
            let acts = Int.random(in: 0...6, using: &random)
            let acknowledges = Bool.random(using: &random)
            for (tests, store) in zip([acted, left], stores) {
                let world = tests.world
                try await world.commit(store, world.changes(round * 10..<round * 10 + count))
                let open = try await tests.announce(store, id: id)
                let outcome: DeliveryOutcome =
                    fate == 0
                    ? .ok : fate == 1 ? .rejected(nextAttemptAt: world.now) : .unavailable(nextAttemptAt: world.now)
                _ = try await store.deliveries.record(open.tickets[0], outcome, now: world.now, maxRetries: 1)
            }
            known.append(id)
            for _ in 0..<acts {
                let action = NotificationAction.allCases.randomElement(using: &random)!
                let result = try await acted.act(stores[0], action, on: known.randomElement(using: &random)!)
                if case .done(let record) = result, let repetition = record.repetition { known.append(repetition) }
            }
            // An hour later the repetitions are delivered or rejected.
            for tests in [acted, left] { tests.world.now = tests.world.now + .seconds(3600) }
            for (tests, store) in zip([acted, left], stores) {
                let now = tests.world.now
                for open in try await world.reclaim(store, at: now, until: now) {
                    let isRepetition = try await store.notifications.find(open.id, of: world.account)?.repeats != nil
                    for ticket in open.tickets {
                        let outcome: DeliveryOutcome =
                            isRepetition && round % 2 == 0 ? .rejected(nextAttemptAt: now) : .ok
                        _ = try await store.deliveries.record(ticket, outcome, now: now, maxRetries: 1)
                    }
                }
                if acknowledges {
                    let stream = tests.world.stream
                    _ = try await store.acknowledgements.completeLocally(stream, now: now)
                }
            }
            #expect(try await acted.picture(stores[0]) == left.picture(stores[1]), "round \(round)")
        }
        try await acted.world.expectBalanced(stores[0])
    }

    /// The state that must not change.
    private struct Picture: Equatable {
        var rows: [String]
        var ledger: Ledger
        var watermark: JWTID?
    }

    private func picture(_ store: Store) async throws -> Picture {
        var filter = OutboxFilter()
        filter.limit = 10_000
        let rows = try await store.outbox.list(filter).map { row in
            "\(row.id) \(row.change.id.rawValue) \(row.state) \(row.retryCount) \(row.notificationID ?? "-") "
                + "\(row.deliveredAt?.iso8601 ?? "-") \(row.acknowledgedAt?.iso8601 ?? "-")"
        }
        return Picture(
            rows: rows,
            ledger: try await store.status.ledger(world.stream),
            watermark: try await store.acknowledgements.watermark(world.stream)
        )
    }
}
