import GRDB
import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Testing

@Suite struct DigestStoreTests {
    let world = World()
    static let daily = DigestName("daily")!

    private func occurrence(_ hour: Int) -> DigestOccurrence {
        DigestOccurrence(digest: Self.daily, slot: "daily/slot-\(hour)", fireAt: world.now + .seconds(hour * 3600))
    }

    private func arming(_ hour: Int, token: String, body: String = "body") -> DigestChanges.Arming {
        DigestChanges.Arming(
            occurrence: occurrence(hour),
            token: token,
            text: ArmedText(text: .fallback, fingerprint: 1, title: "title", body: body, payload: Array("{}".utf8))
        )
    }

    private func apply(
        _ store: Store,
        generation: Int? = nil,
        _ edit: (inout DigestChanges) -> Void
    ) async throws -> Int? {
        var changes = DigestChanges()
        edit(&changes)
        let current = try await store.identity.active().generation
        return try await store.digests.apply(
            changes,
            of: World.alice,
            generation: generation ?? current,
            server: World.server,
            now: world.now
        )
    }

    @Test func aReplacedTextKeepsItsID() async throws {
        let store = try await world.open()
        _ = try await apply(store) { $0.armed = [arming(1, token: "ntf_first")] }
        _ = try await apply(store) { $0.armed = [arming(1, token: "ntf_second", body: "new")] }
        _ = try await apply(store) { changes in
            changes.fired = [.init(occurrence: occurrence(1), sinks: ["log"], runID: "run")]
        }
        let open = try await world.reclaim(store, until: world.now + .seconds(60))
        #expect(open.map(\.id) == ["ntf_first"] && open.map(\.outgoing.body) == ["new"])
        // Fires once; its text is fixed from then on.
        _ = try await apply(store) { changes in
            changes.armed = [arming(1, token: "ntf_third", body: "late")]
            changes.fired = [.init(occurrence: occurrence(1), sinks: ["log"], runID: "run")]
            changes.dropped = [occurrence(1)]
        }
        let later = world.now + .seconds(61)
        #expect(try await world.reclaim(store, at: later, until: later).map(\.outgoing.body) == ["new"])
        #expect(try await store.digests.state(of: World.alice, since: world.now).rows.map(\.token) == ["ntf_first"])
    }

    @Test func nothingIsStoredForAnotherIdentityOrGeneration() async throws {
        let store = try await world.open()
        let former = try await store.identity.active().generation
        _ = try await apply(store) { $0.armed = [arming(1, token: "ntf_1")] }
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        #expect(try await store.digests.state(of: World.alice, since: world.now).rows.isEmpty)
        #expect(try await store.digests.state(of: World.alice, since: world.now).armedThrough.isEmpty)
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        #expect(try await apply(store, generation: former) { $0.armed = [arming(1, token: "ntf_2")] } == nil)
        let stored = try await store.digests.finishPrefetch(
            .fetched(payload: "{}", etag: nil),
            slot: "s",
            source: "s",
            occurrence: nil,
            of: World.alice,
            generation: former,
            now: world.now
        )
        #expect(stored == nil)
        #expect(try await store.digests.content(source: "s", account: World.alice) == nil)
    }

    private func fetched(_ payload: String, _ store: Store, at time: Timestamp) async throws {
        _ = try await store.digests.finishPrefetch(
            .fetched(payload: payload, etag: nil),
            slot: "daily",
            source: "url",
            occurrence: nil,
            of: World.alice,
            generation: try await store.identity.active().generation,
            now: time
        )
    }

    @Test func theLastFetchCountsAfterAClockThatWasAhead() async throws {
        let store = try await world.open()
        try await fetched("1", store, at: world.now + .days(1))
        try await fetched("2", store, at: world.now)
        #expect(try await store.digests.content(source: "url", account: World.alice)?.payload == "2")
        _ = try await store.digests.finishPrefetch(
            .notModified,
            slot: "daily",
            source: "url",
            occurrence: nil,
            of: World.alice,
            generation: try await store.identity.active().generation,
            now: world.now + .seconds(1)
        )
        let content = try await store.digests.content(source: "url", account: World.alice)
        #expect(content?.validatedAt == world.now + .seconds(1))
    }

    @Test func aNewConfigurationIsStoredTogetherWithItsEvent() async throws {
        let store = try await world.open()
        let event = EventDraft(kind: .configUpdated, payload: "{}")
        func remember(_ json: String, _ event: EventDraft?) async throws -> Int? {
            try await store.digests.storeConfiguration(json, telling: event, now: world.now)
        }
        #expect(try await remember("[1]", event) == nil)
        #expect(try await remember("[1]", event) == nil)
        let broken = EventDraft(kind: .configUpdated, payload: "no JSON")
        await #expect(throws: StoreError.self) { try await remember("[2]", broken) }
        // The configuration was not stored before, so the event is queued now.
        #expect(try await remember("[2]", event) == 0)
        #expect(try await remember("[2]", event) == nil)
        #expect(try await remember("[3]", nil) == nil)
        #expect(try await store.events.count() == 1)
    }

    @Test(.enabled(if: World.isClear)) func onlyTheNewestContentIsKept() async throws {
        let store = try await world.open()
        for number in 1...5 { try await fetched("\(number)", store, at: world.now + .seconds(number)) }
        let kept = try await DatabaseQueue(path: world.path).read { db in
            try String.fetchAll(db, sql: "SELECT payload_json FROM notif_contents")
        }
        #expect(kept == ["5"])
    }

    @Test func eventsWithoutACallbackAndOldEventsAreDropped() async throws {
        let store = try await world.open()
        _ = try await store.events.enqueue(
            [EventDraft(kind: .delivery, payload: "{}"), EventDraft(kind: .error, payload: "{}")],
            now: world.now
        )
        try await store.events.retain([.error, .heartbeat])
        let kinds = try await store.events.due(Set(CallbackKind.allCases), now: world.now).map(\.kind)
        #expect(kinds == [.error])
        #expect(try await store.events.dropOld(now: world.now + .days(14)) == 0)
        #expect(try await store.events.dropOld(now: world.now + .days(14) + .seconds(1)) == 1)
        try await store.events.retain([])
        #expect(try await store.events.count() == 0)
    }

    @Test func theEventQueueIsBoundedInNumberAndAge() async throws {
        let store = try await world.open()
        func draft(_ kind: CallbackKind = .delivery) -> EventDraft { EventDraft(kind: kind, payload: "{}") }
        for _ in 0..<10 {
            #expect(try await store.events.enqueue(Array(repeating: draft(), count: 100), now: world.now) == 0)
        }
        #expect(try await store.events.enqueue([draft(), draft()], now: world.now) == 2)
        #expect(try await store.events.count() == 1000)
        #expect(try await store.events.due([.delivery], now: world.now).first?.id == 3)
        let later = world.now + .seconds(15 * 86_400)
        #expect(try await store.events.enqueue([draft()], now: later) == 1000)
        // Only the newest heartbeat is kept.
        _ = try await store.events.enqueue([draft(.heartbeat)], now: later)
        _ = try await store.events.enqueue([draft(.heartbeat)], now: later)
        #expect(try await store.events.count() == 2)
        #expect(try await store.events.due([.error], now: later).isEmpty)
    }

    /// Operations on digests change neither the outbox, the ledger, acknowledgements nor watermarks.
    @Test(arguments: 1...20)
    func digestsTouchNeitherOutboxNorLedger(seed: Int) async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...9))
        _ = try await world.claim(store, limit: 3)
        try await world.commit(store, world.changes(10...12))
        let before = try books()
        var random = Generator(state: UInt64(seed))
        for step in 0..<60 {
            let hour = Int.random(in: 1...5, using: &random)
            switch Int.random(in: 0..<7, using: &random) {
            case 0, 1: _ = try await apply(store) { $0.armed = [arming(hour, token: "ntf_\(step)_\(hour)")] }
            case 2:
                _ = try await apply(store) { changes in
                    changes.fired = [.init(occurrence: occurrence(hour), sinks: ["log", "hook"], runID: "run")]
                }
            case 3:
                let lease = world.now + .seconds(5)
                for open in try await world.reclaim(store, until: lease)
                where open.stream.poll == PollName(Self.daily) {
                    for ticket in open.tickets {
                        let outcomes: [DeliveryOutcome] = [
                            .ok, .gone, .rejected(nextAttemptAt: world.now), .unavailable(nextAttemptAt: world.now),
                        ]
                        _ = try await store.deliveries.record(
                            ticket,
                            outcomes.randomElement(using: &random)!,
                            now: world.now,
                            maxRetries: 2
                        )
                    }
                }
            case 4:
                for row in try await store.digests.state(of: World.alice, since: world.now - .days(1)).rows {
                    try await store.digests.giveUp(row.token, of: world.account, now: world.now)
                }
            case 5:
                _ = try await apply(store) { $0.ended = [.init(occurrence: occurrence(hour), status: .shown)] }
            default: _ = try await apply(store) { $0.dropped = [occurrence(hour)] }
            }
            world.now = world.now + .seconds(7)
        }
        #expect(try books() == before)
        try await world.expectBalanced(store)
        #expect(try await world.integrityCheck().isEmpty)
    }

    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9e37_79b9_7f4a_7c15
            var word = state
            word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
            word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
            return word ^ word >> 31
        }
    }

    private func books() throws -> [String] {
        try DatabaseQueue(path: world.path).read { db in
            try [
                "SELECT * FROM notification_outbox ORDER BY id",
                """
                SELECT * FROM ledger WHERE fetched + new + duplicate + rejected + delivered + dead + cancelled
                    + suppressed + evicted + acknowledged > 0 ORDER BY stream_id
                """,
                "SELECT * FROM ack_batches", "SELECT * FROM watermarks", "SELECT * FROM settings",
            ].flatMap { try Row.fetchAll(db, sql: $0).map(\.description) }
        }
    }
}
