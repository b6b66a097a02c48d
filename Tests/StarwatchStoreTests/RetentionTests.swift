import GRDB
import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Testing

@Suite struct RetentionTests {
    let world = World()

    @Test func finishedRowsExpireAndOpenRowsNever() async throws {
        let store = try await world.open()
        let generation = try await store.identity.active().generation
        _ = try await store.polls.finishBootstrap(
            world.stream,
            generation: generation,
            top: world.id(0),
            now: world.now
        )
        try await world.commit(store, world.changes(1...50) + [world.change(1000)])
        try await world.deliverAll(store)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        try await world.commit(store, [world.change(5000), world.change(5001)])
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(6)).outbox == 0)
        let counts = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(8))
        #expect(counts.outbox == 50, "the row at the watermark stays")
        #expect(try await store.outboxCounts()[.pending] == 2)
        try await world.expectBalanced(store)
        #expect(try await world.integrityCheck().isEmpty)
    }

    @Test func acceptedDeliveriesStayWhileAnotherSinkIsDue() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2))
        let notification = try #require(try await world.claim(store, sinks: ["first", "second"]))
        _ = try await store.deliveries.record(notification.tickets[0], .ok, now: world.now, maxRetries: 3)
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(20)).deliveries == 0)
    }

    @Test(arguments: [true, false])
    func theLastChangeOfAQuietStreamIsNotAnnouncedAgain(afterBootstrap: Bool) async throws {
        let store = try await world.open()
        let generation = try await store.identity.active().generation
        if afterBootstrap {
            _ = try await store.polls.finishBootstrap(world.stream, generation: generation, top: nil, now: world.now)
        }
        try await world.commit(store, world.changes(1...5))
        try await world.deliverAll(store)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(60))
        #expect(try await world.commit(store, world.changes(1...5))?.inserted == 0)
    }

    @Test func rowsFetchedAgainByATombstoneAreNotAnnouncedAgain() async throws {
        let store = try await world.open()
        let generation = try await store.identity.active().generation
        _ = try await store.polls.finishBootstrap(world.stream, generation: generation, top: nil, now: world.now)
        try await world.commit(store, world.changes(4970...5000))
        try await world.deliverAll(store)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        try await world.commit(store, [world.change(5001), world.change(6000)])
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(8)).outbox == 0)
        #expect(try await world.evict(store, .fifo, limit: 1) == 2)
        #expect(try await store.polls.state(world.stream, maxUndelivered: 1000).fetchCursor == world.id(5000))
        let again = try await world.commit(store, world.changes(4970...5001) + [world.change(6000)])
        #expect(again?.inserted == 0 && again?.refetched == 2)
        try await world.expectBalanced(store)
    }

    /// One change a day, all of them finished. The cursor and the watermark are at the last one.
    private func tenDays(_ store: Store) async throws {
        let generation = try await store.identity.active().generation
        _ = try await store.polls.finishBootstrap(world.stream, generation: generation, top: nil, now: world.now)
        try await world.commit(store, (1...10).map { world.change($0 * 86_400) })
        try await world.deliverAll(store)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
    }

    /// The next walk begins there, or a day lower if the local clock was set forward.
    @Test(arguments: [nil, 6, 2])
    func whatThePollHasNotSeenForSureStays(seenUntil day: Int?) async throws {
        let store = try await world.open()
        try await tenDays(store)
        var cycle = CycleRecord(
            stream: world.stream,
            runID: "run_0",
            startedAt: world.now,
            finishedAt: world.now,
            outcome: .unchanged
        )
        cycle.seenUntil = day.map { world.id($0 * 86_400).timestamp }
        try await store.polls.finishCycle(cycle)
        #expect(try await store.polls.state(world.stream, maxUndelivered: 10).seenUntil == cycle.seenUntil)
        let deleted = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(8)).outbox
        #expect(deleted == day.map { $0 - 2 } ?? 9)
    }

    @Test func whatAnInterruptedWalkStillFetchesStays() async throws {
        let store = try await world.open()
        try await tenDays(store)
        var commit = PageCommit(
            stream: world.stream,
            expectedGeneration: try await store.identity.active().generation,
            runID: "run_0",
            changes: [],
            room: 10,
            now: world.now
        )
        let top = world.id(10 * 86_400)
        commit.walk = .save(OpenWalk(top: top, before: top, after: world.id(4 * 86_400)))
        _ = try await store.outbox.commit(page: commit)
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(8)).outbox == 3)
        commit.walk = .save(OpenWalk(top: top, before: top, after: nil))
        _ = try await store.outbox.commit(page: commit)
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(8)).outbox == 0)
    }

    /// Rows of the former dialect expire, in whichever order the two kinds sort, but not rows that the server can send
    /// again.
    @Test(arguments: [(Dialect.endorser, Dialect.canonical), (.canonical, .endorser)])
    func rowsOfTheFormerDialectExpire(_ former: Dialect, _ dialect: Dialect) async throws {
        let store = try await world.open()
        for spoken in [former, dialect] {
            _ = try await store.servers.rememberDialect(spoken, of: World.server, now: world.now)
            let changes = (1...4).map {
                Change(id: .floor(spoken.idKind, at: world.now + .seconds($0)), plan: "plan \($0)", name: nil)
            }
            try await world.commit(store, changes)
            try await world.deliverAll(store, id: "ntf_\(spoken)")
            _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
            world.now = world.now + .seconds(1)
        }
        // The overlap contains only rows that the server can send again.
        let known = try await store.polls.state(world.stream, maxUndelivered: 1000).known
        #expect(known.count == 4 && known.allSatisfy { $0.kind == dialect.idKind })
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(6)).outbox == 0)
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(8)).outbox == 4)
        #expect(try await store.outbox.list(OutboxFilter()).allSatisfy { $0.change.id.kind == dialect.idKind })
        try await world.expectBalanced(store)
    }

    @Test func deadRowsAreKeptForThirtyDays() async throws {
        let store = try await world.open()
        let generation = try await store.identity.active().generation
        _ = try await store.polls.finishBootstrap(world.stream, generation: generation, top: nil, now: world.now)
        try await world.commit(store, world.changes([1]))
        try await world.killAll(store)
        try await world.commit(store, world.changes([5000]))
        try await world.deliverAll(store)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(29)).outbox == 0)
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(31)).outbox == 1)
        try await world.expectBalanced(store)
    }

    @Test func anAcknowledgementWithoutRowsIsReplacedByTheNext() async throws {
        let store = try await world.open()
        let generation = try await store.identity.active().generation
        _ = try await store.polls.finishBootstrap(world.stream, generation: generation, top: nil, now: world.now)
        try await world.commit(store, world.changes([1, 2, 3, 5000])) { $0.disposition = .suppress }
        _ = try await store.acknowledgements.advanceWatermark(world.stream, now: world.now)
        let first = try await store.acknowledgements.nextBatch(
            world.stream,
            limit: 2,
            now: world.now,
            newKey: { "first" }
        )
        #expect(first?.ids == [world.id(1), world.id(2)])
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(31)).outbox == 3)
        let next = try await store.acknowledgements.nextBatch(
            world.stream,
            limit: 2,
            now: world.now,
            newKey: { "next" }
        )
        #expect(next?.key == "next" && next?.ids == [world.id(5000)])
    }

    @Test func historyLogsSlotsAndArchivesExpire() async throws {
        let store = try await world.open()
        try await store.polls.finishCycle(CycleRecord.make(world, .changed))
        let generation = try await store.identity.active().generation
        let occurrence = DigestOccurrence(digest: DigestName("daily")!, slot: "s", fireAt: world.now)
        _ = try await store.digests.finishPrefetch(
            .fetched(payload: "{}", etag: "e"),
            slot: "s",
            source: "of",
            occurrence: nil,
            of: World.alice,
            generation: generation,
            now: world.now
        )
        var changes = DigestChanges()
        changes.ended = [.init(occurrence: occurrence, status: .shown, shownAt: world.now)]
        _ = try await store.digests.apply(
            changes,
            of: World.alice,
            generation: generation,
            server: World.server,
            now: world.now
        )
        try await store.logs.append([LogEntry(at: world.now, level: .error, line: "{}")])
        #expect(try await store.digests.content(source: "of", account: World.alice)?.etag == "e")
        #expect(try await store.digests.content(source: "of", account: World.bob) == nil)
        let stored = try await store.digests.state(of: World.alice, since: world.now - .days(1)).rows
        #expect(stored.map(\.row.status) == [.shown])
        let early = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(13))
        #expect(early.values.allSatisfy { $0 == 0 })
        let slots = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(15))
        #expect(slots.slots == 2)
        let history = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(31))
        #expect(history.history == 1)
        let logs = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(91))
        #expect(logs.logs == 1)
    }

    /// They tell how long a poll is usually without changes, while it is without any.
    @Test func theChangesBeforeASilenceStayInTheHistory() async throws {
        let store = try await world.open()
        func end(_ days: Int, _ outcome: PollOutcome, new: Int) async throws {
            var cycle = CycleRecord.make(world, outcome)
            (cycle.finishedAt, cycle.newRows) = (world.now + .days(days), new)
            try await store.polls.finishCycle(cycle)
        }
        for day in stride(from: 0, through: 60, by: 20) { try await end(day, .changed, new: 1) }
        try await end(60, .failed, new: 0)
        let deleted = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(200)).history
        #expect(deleted == 3, "those more than 30 days before the last change, and the failure")
        let times = try await store.polls.changeTimes(of: world.stream, since: world.now)
        #expect(times == [40, 60].map { world.now + .days($0) })
        // The last change of a stream can be unknown.
        try await DatabaseQueue(path: world.path).write { db in
            try db.execute(sql: "UPDATE streams SET last_new = NULL")
        }
        #expect(try await store.retention.apply(RetentionPolicy(), now: world.now + .days(200)).history == 2)
    }

    @Test func watermarksAndSettingsExpireButPreferencesStay() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...2))
        try await world.deliverAll(store)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        try await store.polls.finishCycle(CycleRecord.make(world, .unchanged))
        let carol = DID("did:ethr:0xcarol")!
        try await store.identity.setNotificationPreferences(
            #"{"starredProjects":false}"#,
            of: carol,
            server: World.server,
            now: world.now
        )
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        let year = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(366))
        #expect(year.watermarks == 1)
        #expect(try await store.acknowledgements.watermark(world.stream) == nil)
        let two = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(731))
        #expect(two.settings == 1)
        #expect(try await store.identity.active().did == World.bob)
        #expect(try await store.stars.interests(of: carol).preferences == #"{"starredProjects":false}"#)
        try await world.expectBalanced(store)
    }

    @Test(arguments: [
        (#"{"polls":["nightly"]}"#, [730: 0, 731: 1]),
        (#"{"polls":["nightly"],"starredProjects":false}"#, [731: 0]),
    ])
    func anAccountThatOnlyNamedItsPollsExpires(_ preferences: String, _ deleted: [Int: Int]) async throws {
        let store = try await world.open()
        let carol = DID("did:ethr:0xcarol")!
        try await store.identity.setNotificationPreferences(
            preferences,
            of: carol,
            server: World.server,
            now: world.now
        )
        for day in deleted.keys.sorted() {
            let counts = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(day))
            #expect(counts.settings == deleted[day])
        }
    }

    @Test func tombstonesDoNotHoldTheWatermarkOfAStreamThatStartsAgain() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...10))
        try await store.polls.finishCycle(CycleRecord.make(world, .unchanged))
        #expect(try await world.evict(store, .fifo, limit: 9) == 2)
        _ = try await store.retention.apply(RetentionPolicy(), now: world.now + .days(366))
        #expect(try await store.status.ledger(world.stream).cancelled == 2)
        let generation = try await store.identity.active().generation
        _ = try await store.polls.finishBootstrap(
            world.stream,
            generation: generation,
            top: world.id(20),
            now: world.now
        )
        try await world.commit(store, [world.change(21)])
        try await world.deliverAll(store)
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        #expect(try await store.acknowledgements.watermark(world.stream) == world.id(21))
        #expect(try await store.polls.state(world.stream, maxUndelivered: 1).fetchCursor == world.id(21))
        try await world.expectBalanced(store)
    }

    @Test func theSnapshotMatchesTheTables() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...4))
        _ = try await world.claim(store, limit: 1)
        try await store.polls.finishCycle(CycleRecord.make(world, .changed))
        let other = StreamKey(account: World.bob, server: World.server, poll: world.stream.poll)
        let snapshot = try await store.status.snapshot([world.stream, other])
        #expect(snapshot.rows == [.pending: 3, .claimed: 1, .delivered: 0, .dead: 0, .evicted: 0])
        #expect(snapshot.streams.keys.map { $0 } == [world.stream])
        let stream = snapshot.streams[world.stream]
        #expect(stream?.rows == [.pending: 3, .claimed: 1])
        #expect(stream?.ledger.new == 4)
        #expect(stream?.fetchCursor == world.id(4))
        #expect(stream?.lastOutcome == .changed)
        #expect(stream?.nextRun == world.now + .seconds(900))
        #expect(snapshot.oldestPending == world.now)
        #expect(snapshot.oldestDead == nil)
        #expect(snapshot.fetchedImbalance == 0 && snapshot.newImbalance == 0)
        #expect(store.status.fileSizes()?.database ?? 0 > 0)
        #expect(snapshot.identity.generation == 1)
    }
}
