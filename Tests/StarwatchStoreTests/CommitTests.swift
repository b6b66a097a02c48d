import FoundationEssentials
import GRDB
import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Testing

@Suite struct CommitTests {
    let world = World()

    @Test func everythingSurvivesReopening() async throws {
        var store: Store? = try await world.open()
        let walk = OpenWalk(top: world.id(9), before: world.id(5), after: world.id(1))
        try await world.commit(store!, world.changes(5...9)) {
            $0.cursor = .unchanged
            $0.walk = .save(walk)
        }
        await store?.close()
        store = nil
        store = try await world.open()
        let state = try await store!.polls.state(world.stream, maxUndelivered: 100)
        #expect(state.walk == walk)
        #expect(state.fetchCursor == nil)
        #expect(state.openRows == 5)
        #expect(state.room == 95)
        let rows = try await store!.outbox.list(OutboxFilter())
        #expect(rows.map(\.change) == world.changes(5...9))
        try await world.expectBalanced(store!)
    }

    @Test func aRowKeepsThatItsHandleIsAnOffers() async throws {
        let store = try await world.open()
        let change = Change(id: world.id(1), plan: "offer", name: nil, isOffer: true)
        try await world.commit(store, [change])
        #expect(try await store.outbox.list(OutboxFilter()).map(\.change) == [change])
        #expect(try await store.stories.change(1)?.row.change == change)
        let (stream, now) = (world.stream, world.now)
        let claim = try await store.deliveries.claim(stream, now: now, limit: 1, leaseUntil: now, sinks: ["log"]) {
            rows,
            _ in
            let message = NotificationMessage(
                id: "ntf_1",
                runID: "run",
                poll: stream.poll,
                kind: .offersToMe,
                changes: rows.map(\.change),
                context: NotificationContext(largestGroup: 5),
                createdAt: now
            )
            return (OutgoingNotification(message), nil)
        }
        #expect(NotificationMessage(json: claim.first?.outgoing.payload ?? [])?.deepLink == DeepLink.notifications.url)
    }

    @Test(arguments: [
        Change(id: World().id(1), plan: "plan", name: "Garden", isEdition: true),
        Change(id: World().id(1), plan: "plan", name: "Garden", fulfillsOffer: true),
    ])
    func aRowKeepsThatItIsAnEditionOrHonoursAnOfferAlsoOverAnEviction(change: Change) async throws {
        let store = try await world.open()
        try await world.commit(store, [change])
        #expect(try await store.outbox.list(OutboxFilter()).map(\.change) == [change])
        #expect(try await world.evict(store, .fifo, limit: 0) == 1)
        // A version before the column stored it.
        try await DatabaseQueue(path: world.path).writeWithoutTransaction { db in
            try db.execute(sql: "UPDATE notification_outbox SET fulfills_offer = 0")
        }
        try await world.commit(store, [change])
        let claim = try await store.deliveries.claim(
            world.stream,
            now: world.now,
            limit: 1,
            leaseUntil: world.now,
            sinks: ["log"]
        ) { rows, _ in (.made("ntf_1", count: rows.count { $0.change == change }), nil) }
        #expect(claim.map(\.outgoing.count) == [1])
    }

    /// The server names the plan of a gift by its handle alone.
    @Test func aGiftHasTheNameThatItsPlanWasLastSeenWith() async throws {
        let store = try await world.open { $0.polls.insert(PollName("gives")!) }
        try await world.commit(store, [world.change(1), world.change(2)]) { page in
            page.edit(world.id(1)) { $0.details = PlanDetails([.name: "Barn"]) }
            page.edit(world.id(2)) { $0.details = PlanDetails([.name: "Garden"]) }
        }
        let gifts = [
            Change(id: world.id(3), plan: "plan", name: nil), Change(id: world.id(4), plan: "other", name: nil),
            Change(id: world.id(5), plan: "plan", name: nil, isOffer: true),
            Change(id: world.id(6), plan: "plan", name: "Shed"),
        ]
        let stream = StreamKey(account: World.alice, server: World.server, poll: PollName("gives")!)
        try await world.commit(store, gifts, stream: stream)
        var filter = OutboxFilter()
        filter.poll = stream.poll
        #expect(try await store.outbox.list(filter).map(\.change.name) == ["Garden", nil, nil, "Shed"])
    }

    @Test func anOfferOfAnOlderVersionThatComesAgainIsKnownAsOne() async throws {
        let store = try await world.open()
        let change = Change(id: world.id(1), plan: "offer", name: nil, isOffer: true)
        try await world.commit(store, [change])
        #expect(try await world.evict(store, .fifo, limit: 0) == 1)
        try await DatabaseQueue(path: world.path).writeWithoutTransaction { db in
            try db.execute(sql: "UPDATE notification_outbox SET is_offer = 0")
        }
        try await world.commit(store, [change])
        #expect(try await store.outbox.list(OutboxFilter()).map(\.change) == [change])
    }

    @Test func aLimitDropsTheOldestRows() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        var filter = OutboxFilter()
        filter.limit = 2
        #expect(try await store.outbox.list(filter).map(\.change) == world.changes([1, 2]))
        filter.isNewestFirst = true
        #expect(try await store.outbox.list(filter).map(\.change) == world.changes([3, 2]))
    }

    @Test func aKnownItemIsADuplicate() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...5))
        let counts = try #require(try await world.commit(store, world.changes(3...7)) { $0.rejectedCount = 2 })
        #expect(counts.inserted == 2)
        #expect(counts.duplicates == 3)
        let ledger = try await store.status.ledger(world.stream)
        #expect(ledger.fetched == 12)
        #expect(ledger.new == 7)
        #expect(ledger.duplicate == 3)
        #expect(ledger.rejected == 2)
        try await world.expectBalanced(store)
    }

    @Test func processingStopsBeforeTheFirstNewItemWithoutRoom() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes([1, 4]))
        let counts = try #require(try await world.commit(store, world.changes(1...6), room: 1))
        #expect(counts.inserted == 1)
        #expect(counts.duplicates == 1)
        #expect(counts.lastHandled == world.id(2))
        #expect(counts.outOfRoom)
        #expect(try await store.status.ledger(world.stream).fetched == 4)
        try await world.expectBalanced(store)
    }

    @Test func duplicatesNeedNoRoom() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        let counts = try #require(try await world.commit(store, world.changes(1...3), room: 0))
        #expect(!counts.outOfRoom)
        #expect(counts.duplicates == 3)
    }

    @Test func aWalkWithoutRoomNeitherEndsNorMoves() async throws {
        let store = try await world.open()
        let walk = OpenWalk(top: world.id(9), before: world.id(7), after: nil)
        try await world.commit(store, world.changes([9, 8, 7])) {
            $0.cursor = .unchanged
            $0.walk = .save(walk)
        }
        try await world.commit(store, world.changes([6, 5]), room: 1) {
            $0.cursor = .advance(to: world.id(9))
            $0.walk = .clear
        }
        let state = try await store.polls.state(world.stream, maxUndelivered: 100)
        #expect(state.fetchCursor == nil)
        #expect(state.walk == walk)
    }

    @Test func interruptedWalkContinuesBelowTheLastStoredItem() async throws {
        let store = try await world.open()
        let interrupted = OpenWalk(top: world.id(9), before: world.id(9), after: nil)
        try await world.commit(store, world.changes([9, 8, 7, 6]), room: 2) {
            $0.cursor = .advance(to: world.id(9))
            $0.walk = .clear
            $0.interrupted = interrupted
        }
        let state = try await store.polls.state(world.stream, maxUndelivered: 100)
        #expect(state.walk == OpenWalk(top: world.id(9), before: world.id(8), after: nil))
        #expect(state.fetchCursor == nil)
    }

    @Test func cursorOnlyRises() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...5))
        try await world.commit(store, world.changes(1...2))
        try await world.commit(store, []) { $0.cursor = .advance(to: world.id(3)) }
        #expect(try await store.polls.state(world.stream, maxUndelivered: 1).fetchCursor == world.id(5))
        try await world.commit(store, []) { $0.cursor = .advance(to: world.id(8)) }
        #expect(try await store.polls.state(world.stream, maxUndelivered: 1).fetchCursor == world.id(8))
    }

    @Test func bootstrapRowsStayOutsideTheLedgerAndAreNeverAcknowledged() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3)) {
            $0.disposition = .bootstrap
            $0.cursor = .unchanged
        }
        let generation = try await store.identity.active().generation
        _ = try await store.polls.finishBootstrap(
            world.stream,
            generation: generation,
            top: world.id(3),
            now: world.now
        )
        #expect(try await store.status.ledger(world.stream) == Ledger())
        #expect(try await store.acknowledgements.nextBatch(world.stream, limit: 10, now: world.now) { "k" } == nil)
        #expect(try await store.acknowledgements.watermark(world.stream) == world.id(3))
        #expect(try await world.commit(store, world.changes(1...4))?.inserted == 1)
        try await world.expectBalanced(store)
    }

    @Test func emptyBootstrapIsRemembered() async throws {
        let store = try await world.open()
        let generation = try await store.identity.active().generation
        #expect(try await store.polls.finishBootstrap(world.stream, generation: generation, top: nil, now: world.now))
        let state = try await store.polls.state(world.stream, maxUndelivered: 1)
        #expect(state.bootstrapped)
        #expect(state.fetchCursor == nil)
        #expect(state.watermark == nil)
    }

    @Test func whatABootstrapHasSeenIsStoredWithIt() async throws {
        let store = try await world.open()
        let generation = try await store.identity.active().generation
        var cycle = CycleRecord(
            stream: world.stream,
            runID: "run",
            startedAt: nil,
            finishedAt: world.now,
            outcome: nil
        )
        (cycle.successAt, cycle.seenUntil) = (world.now, world.id(5).timestamp)
        let isFinished = try await store.polls.finishBootstrap(
            world.stream,
            generation: generation,
            top: nil,
            cycle: cycle,
            now: world.now
        )
        #expect(isFinished)
        let state = try await store.polls.state(world.stream, maxUndelivered: 1)
        #expect(state.bootstrapped && state.lastSuccess == world.now && state.seenUntil == world.id(5).timestamp)
    }

    @Test func bootstrapSurvivesAPowerLoss() async throws {
        let store = try await world.open()
        let generation = try await store.identity.active().generation
        #expect(
            try await store.polls.finishBootstrap(
                world.stream,
                generation: generation,
                top: world.id(3),
                now: world.now
            )
        )
        // A copy of the database file without the write-ahead log, as after a power loss.
        let after = World()
        try FileManager.default.copyItem(atPath: world.path, toPath: after.path)
        let state = try await after.open().polls.state(world.stream, maxUndelivered: 1)
        #expect(state.bootstrapped)
        #expect(state.fetchCursor == world.id(3))
        #expect(state.watermark == world.id(3))
    }

    @Test func suppressedRowsAreInTheLedgerAndAcknowledged() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3), room: 0) { $0.disposition = .suppress }
        let ledger = try await store.status.ledger(world.stream)
        #expect(ledger.new == 3)
        #expect(ledger.suppressed == 3)
        let batch = try #require(
            try await store.acknowledgements.nextBatch(world.stream, limit: 10, now: world.now) { "k" }
        )
        #expect(batch.ids.count == 3)
        let done = try await store.acknowledgements.complete(batch, now: world.now)
        #expect(done == (acknowledged: 3, watermark: .advanced(to: world.id(3))))
        #expect(try await store.acknowledgements.nextBatch(world.stream, limit: 10, now: world.now) { "k2" } == nil)
        try await world.expectBalanced(store)
    }

    @Test func cyclesStoreTimesWindowAndHistory() async throws {
        let store = try await world.open()
        let cycle = CycleRecord.make(world, .unchanged)
        try await store.polls.finishCycle(cycle)
        try await store.polls.setRequestWindow([1, 2, 3], of: World.alice, spentAt: world.now)
        #expect(try await reasons().isEmpty)
        var failed = CycleRecord.make(world, .failed)
        failed.successAt = nil
        failed.nextRun = nil
        failed.reason = FailureReason(.timeout)
        failed.finishedAt = world.now + .seconds(9)
        try await store.polls.finishCycle(failed)
        #expect(try await reasons() == ["timeout"])
        let state = try await store.polls.state(world.stream, maxUndelivered: 1)
        #expect(state.lastSuccess == world.now)
        #expect(state.nextRun == world.now + .seconds(900))
        #expect(try await store.polls.requestWindow(of: World.alice) == [1, 2, 3])
        for seconds in [90, 60] {
            let wait = NotBefore(until: world.now + .seconds(seconds), since: world.now)
            try await store.servers.setNotBefore(wait, server: World.server)
            let stored = try await store.servers.state(World.server)
            #expect(stored.notBefore == wait.until)
            #expect(stored.notBeforeSet == world.now)
        }
    }

    @Test func theLastReasonIsTheLastCyclesAlsoAfterTheClockWasSetBack() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...1))
        for (cause, now) in [(FailureReason.Cause.dns, world.now), (.tls, world.now - .seconds(3600))] {
            var cycle = CycleRecord.make(world, .failed)
            (cycle.reason, cycle.finishedAt) = (FailureReason(cause), now)
            try await store.polls.finishCycle(cycle)
        }
        let snapshot = try await store.status.snapshot([world.stream])
        #expect(snapshot.streams[world.stream]?.lastReason == FailureReason(.tls))
    }

    /// The reasons in the history of cycles.
    private func reasons() async throws -> [String] {
        try await DatabaseQueue(path: world.path).read { db in
            try String.fetchAll(db, sql: "SELECT reason FROM history")
        }
    }

    @Test func aNewDialectSettlesRowsOfTheFormerOne() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        try await world.deliverAll(store)
        #expect(try await store.acknowledgements.nextBatch(world.stream, limit: 2, now: world.now) { "key" } != nil)
        try await world.commit(store, world.changes(4...9))
        #expect(try await world.evict(store, .fifo, limit: 5) > 0)
        #expect(try await store.servers.hasIdentifiers(otherThan: .ulid, server: World.server) == false)
        #expect(try await store.servers.hasIdentifiers(otherThan: .timestamped, server: World.server))
        // No dialect is stored, but the cursor has another kind.
        #expect(try await store.servers.rememberDialect(.canonical, of: World.server, now: world.now))
        #expect(try await store.acknowledgements.nextBatch(world.stream, limit: 2, now: world.now) { "key" } == nil)
        let counts = try await store.outboxCounts()
        #expect(counts[.evicted] == 0)
        #expect(counts[.delivered] == 0)
        #expect((counts[.pending] ?? 0) > 0)
        #expect(try await store.status.ledger(world.stream).acknowledged == 3)
        try await world.expectBalanced(store)
    }

    @Test func aNewDialectStartsStreamsAgain() async throws {
        let store = try await world.open()
        try await world.commit(store, world.changes(1...3))
        #expect(try await store.servers.rememberDialect(.endorser, of: World.server, now: world.now) == false)
        try await store.servers.rememberAcknowledges(false, server: World.server)
        #expect(try await store.servers.rememberDialect(.endorser, of: World.server, now: world.now) == false)
        #expect(try await store.servers.state(World.server).acknowledges == false)
        #expect(try await store.polls.state(world.stream, maxUndelivered: 1).fetchCursor == world.id(3))
        #expect(try await store.servers.rememberDialect(.canonical, of: World.server, now: world.now))
        #expect(try await store.polls.state(world.stream, maxUndelivered: 1).fetchCursor == nil)
        #expect(try await store.servers.state(World.server).dialect == .canonical)
        #expect(try await store.servers.state(World.server).acknowledges == nil)
    }

    @Test func aServerWithOnlyAStoredWaitIsUnderstood() async throws {
        let store = try await world.open()
        try await store.servers.setNotBefore(NotBefore(until: world.now, since: nil), server: World.server)
        #expect(try await world.commit(store, world.changes(1...3))?.inserted == 3)
    }

    /// One poll detects the new dialect while another reads a page of the former one.
    @Test func aPageOfTheFormerDialectIsNotStored() async throws {
        let store = try await world.open()
        _ = try await store.servers.rememberDialect(.endorser, of: World.server, now: world.now)
        try await world.commit(store, world.changes(1...3))
        let generation = try await store.identity.active().generation
        _ = try await store.servers.rememberDialect(.canonical, of: World.server, now: world.now)
        #expect(try await world.commit(store, world.changes(4...5)) == nil)
        let isFinished = try await store.polls.finishBootstrap(
            world.stream,
            generation: generation,
            top: world.id(5),
            now: world.now
        )
        #expect(!isFinished)
        let state = try await store.polls.state(world.stream, maxUndelivered: 1000)
        #expect(state.fetchCursor == nil && !state.bootstrapped && state.openRows == 3)
        try await world.expectBalanced(store)
    }

    @Test(arguments: ["stars", "preferences", "neither"])
    func aPageIsStoredOnlyForUnchangedInterests(_ changed: String) async throws {
        let store = try await world.open()
        _ = try await store.stars.set(["plan"], of: World.alice, server: World.server, now: world.now)
        let interests = try await store.stars.interests(of: World.alice)
        let generation = try await store.identity.active().generation
        switch changed {
        case "stars": _ = try await store.stars.add(["other"], of: World.alice, server: World.server, now: world.now)
        case "preferences":
            _ = try await store.stars.setOptedOut(true, of: World.alice, server: World.server, now: world.now)
        default: break
        }
        let isSame = changed == "neither"
        let counts = try await world.commit(store, world.changes(1...2)) { $0.expectedInterests = interests }
        #expect((counts != nil) == isSame)
        let isFinished = try await store.polls.finishBootstrap(
            world.stream,
            generation: generation,
            interests: interests,
            top: world.id(3),
            now: world.now
        )
        #expect(isFinished == isSame)
        #expect(try await store.outbox.list(OutboxFilter()).count == (isSame ? 2 : 0))
    }

    @Test func starsDoNotAffectOtherPolls() async throws {
        let store = try await world.open { $0.starredPolls = [] }
        let interests = try await store.stars.interests(of: World.alice)
        _ = try await store.stars.add(["other"], of: World.alice, server: World.server, now: world.now)
        #expect(try await world.commit(store, world.changes(1...2)) { $0.expectedInterests = interests } != nil)
    }
}

extension CycleRecord {
    static func make(_ world: World, _ outcome: PollOutcome) -> CycleRecord {
        var cycle = CycleRecord(
            stream: world.stream,
            runID: "run",
            startedAt: world.now,
            finishedAt: world.now,
            outcome: outcome
        )
        cycle.successAt = world.now
        cycle.nextRun = world.now + .seconds(900)
        return cycle
    }
}
