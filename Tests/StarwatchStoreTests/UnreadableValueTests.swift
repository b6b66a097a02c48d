import FoundationEssentials
import GRDB
import StarwatchCore
import StarwatchTestKit
import Synchronization
import Testing

@testable import StarwatchStore

/// One encrypted value that does not open affects only itself.
struct UnreadableValueTests {
    let world = World()
    let master = MasterKey()

    private func open() async throws -> Store {
        var options = world.options()
        options.masterKey = master
        let store = try Store(options)
        _ = try await store.identity.seedIfEmpty(World.alice, server: World.server, now: world.now)
        return store
    }

    /// Flips one bit of a column's first value, or of the first that matches a condition.
    private func flip(_ column: SealedColumn, where condition: String = "1") async throws {
        try await DatabaseQueue(path: world.path).write { db in
            let key = SealedTable.all.first { $0.columns.contains(column) }!.key.joined(separator: ", ")
            let sql = """
                SELECT \(column.name) FROM \(column.table) WHERE \(column.name) IS NOT NULL AND \(condition)
                ORDER BY \(key) LIMIT 1
                """
            let row = try #require(try Row.fetchOne(db, sql: sql))
            let damaged: DatabaseValue
            if column.isBlob {
                var bytes: Data = row[0]
                bytes[bytes.startIndex + 20] ^= 1
                damaged = bytes.databaseValue
            } else {
                var bytes = Array((row[0] as String).utf8)
                bytes[20] = bytes[20] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
                damaged = String(decoding: bytes, as: UTF8.self).databaseValue
            }
            try db.execute(
                sql: "UPDATE \(column.table) SET \(column.name) = ? WHERE \(column.name) = ?",
                arguments: [damaged, row[0] as DatabaseValue]
            )
        }
    }

    // MARK: - Rows

    @Test(arguments: [SealedColumn.outboxPlan, .outboxName])
    func aPendingRowThatDoesNotOpenStopsNoOther(column: SealedColumn) async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...4))
        try await flip(column)
        // It is the oldest one, and takes nobody's place.
        let open = try #require(try await world.claim(store, limit: 3))
        #expect(open.outgoing.count == 3)
        _ = try await store.deliveries.record(open.tickets[0], .ok, now: world.now, maxRetries: 3)
        #expect(try await store.outboxCounts()[.delivered] == 3)
        try await world.expectBalanced(store)
        #expect(store.health.failure == nil)
        #expect(store.deliveries.takeUnreadable() == 1)

        var filter = OutboxFilter()
        filter.states = [.dead]
        let dead = try await store.outbox.list(filter)
        #expect(dead.map(\.reason) == [.unreadable] && dead[0].change.id == world.id(1))
        #expect((column == .outboxPlan ? dead[0].change.plan : dead[0].change.name) == "(unreadable)")
        #expect(try await store.outbox.list(OutboxFilter()).count == 4)
        #expect(try await store.stories.change(dead[0].id)?.row.reason == .unreadable)
        #expect(try await store.outbox.unreadable(among: dead.map(\.id)) == dead.map(\.id))
        #expect(
            try await store.outbox.retry(
                dead.map(\.id),
                of: world.account,
                sinks: ["log"],
                now: world.now,
                make: renewed
            ) == 0
        )
        #expect(try await store.outbox.discard(dead.map(\.id), now: world.now, make: renewed) == 1)
        // The overlap brings it again. A discarded row is not one that went with its identity.
        try await world.commit(store, world.changes(1...4))
        #expect(try await store.outboxCounts()[.pending] ?? 0 == 0)
        filter.states = [.cancelled]
        #expect(try await store.outbox.list(filter).map(\.reason) == [.discarded])
        _ = try await store.acknowledgements.completeLocally(world.stream, now: world.now)
        #expect(try await store.acknowledgements.watermark(world.stream) == world.id(4))
        try await world.expectBalanced(store)
    }

    @Test func rowsThatAllDoNotOpenLeaveNothingToClaim() async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...3))
        for n in 1...3 { try await flip(.outboxPlan, where: "jwt_id = '\(world.id(n).rawValue)'") }
        #expect(try await world.claim(store, limit: 2) == nil)
        #expect(try await store.outboxCounts()[.dead] == 3)
        try await world.expectBalanced(store)
    }

    @Test func aRowThatOpensAgainCanBeRetried() async throws {
        let store = try await open()
        try await world.commit(store, [world.change(1)])
        let value = try await DatabaseQueue(path: world.path).read { db in
            try String.fetchOne(db, sql: "SELECT name FROM notification_outbox")
        }
        try await flip(.outboxName)
        #expect(try await world.claim(store) == nil)
        // As from a backup.
        try await DatabaseQueue(path: world.path).write { db in
            try db.execute(sql: "UPDATE notification_outbox SET name = ?", arguments: [value])
        }
        let ids = try await store.outbox.list(OutboxFilter()).map(\.id)
        #expect(
            try await store.outbox.retry(ids, of: world.account, sinks: ["log"], now: world.now, make: renewed) == 1
        )
        #expect(try await store.outbox.list(OutboxFilter()).map(\.reason) == [nil])
        #expect(try await world.deliverAll(store) == 1)
        try await world.expectBalanced(store)
    }

    @Test func fieldsThatDoNotOpenAreUnknownAndTheirRowIsDelivered() async throws {
        let store = try await open()
        try await world.fill(store)
        try await flip(.outboxChanges, where: "state = 'pending'")
        #expect(try await world.claim(store, id: "ntf_rest")?.outgoing.count == 2)
        #expect(try await store.outboxCounts()[.dead] == 0)
    }

    @Test func aFieldComparisonWithASnapshotThatDoesNotOpenIsUnknownAndTheSnapshotIsMadeAnew() async throws {
        let store = try await open()
        func commit(_ n: Int) async throws {
            try await world.commit(store, [world.change(n)]) { page in
                page.edit(world.id(n)) {
                    $0.details = PlanDetails([.name: "name \(n)", .description: "text \(n)"])
                }
            }
        }
        try await commit(1)
        try await flip(.snapshotFields)
        try await flip(.snapshotPlan)
        #expect(try await store.stars.planNames(of: World.alice, server: World.server).isEmpty)
        try await commit(2)
        #expect(try await store.stars.planNames(of: World.alice, server: World.server) == ["plan": "name 2"])
        #expect(try await store.keys.verify().failed == 0)
    }

    @Test func aTombstoneThatDoesNotOpenIsHealedByTheServersAnswer() async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...10))
        #expect(try await world.evict(store, .fifo, limit: 9) > 0)
        try await flip(.outboxPlan, where: "state = 'evicted'")
        try await world.commit(store, world.changes(1...10))
        #expect(try await world.deliverAll(store) == 10)
        #expect(try await store.keys.verify().failed == 0)
    }

    // MARK: - Notifications

    @Test(arguments: [SealedColumn.notificationTitle, .notificationBody, .notificationPayload])
    func aNotificationWhoseTextDoesNotOpenIsMadeAnewFromItsRows(column: SealedColumn) async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...3))
        _ = try await world.claim(store, limit: 2, sinks: ["a", "b"], id: "ntf_1")
        _ = try await world.claim(store, limit: 1, sinks: ["a"], id: "ntf_2")
        try await flip(column)
        let later = world.now + .seconds(61)
        let due = try await world.reclaim(store, at: later, until: later + .seconds(60))
        #expect(due.map(\.id) == ["ntf_2"])
        #expect(try await store.outboxCounts()[.pending] == 2)
        #expect(try await world.claim(store, sinks: ["a", "b"], id: "ntf_3")?.outgoing.count == 2)
        let stored = try await store.notifications.list(of: world.account, limit: 10)
        #expect(stored.map(\.state) == [.open, .open, .released])
        #expect(stored.map(\.title).count { $0 == "(unreadable)" } == (column == .notificationTitle ? 1 : 0))
        try await world.expectBalanced(store)
    }

    @Test func aNotificationThatASinkHasIsNotMadeAnew() async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...2))
        let open = try #require(try await world.claim(store, sinks: ["a", "b"]))
        _ = try await store.deliveries.record(open.tickets[0], .ok, now: world.now, maxRetries: 3)
        try await flip(.notificationPayload)
        let later = world.now + .seconds(61)
        #expect(try await world.reclaim(store, at: later, until: later).isEmpty)
        #expect(try await store.outbox.list(OutboxFilter()).map(\.reason) == [.unreadable, .unreadable])
        #expect(try await store.deliveries.nextAt(of: world.account) == nil)
        try await world.expectBalanced(store)
    }

    @Test func aStalenessNoticeWhoseTextDoesNotOpenIsRaisedAgain() async throws {
        let store = try await open()
        for id in ["ntf_1", "ntf_2"] {
            try await store.notifications.raiseStalenessNotice(
                world.stream,
                .made(id, count: 1),
                sinks: ["a"],
                now: world.now
            )
            #expect(try await store.notifications.stalenessNotice(world.stream)?.id == id)
            guard id == "ntf_1" else { continue }
            try await flip(.notificationBody)
            #expect(try await world.reclaim(store, until: world.now).isEmpty)
            #expect(try await store.notifications.stalenessNotice(world.stream) == nil)
        }
    }

    @Test(arguments: [SealedColumn.digestTitle, .digestBody, .digestPayload])
    func aDigestWhoseTextDoesNotOpenIsUnarmedAndItsFiringChangesNothing(column: SealedColumn) async throws {
        let store = try await open()
        try await world.fill(store)
        try await flip(column)
        let state = try await store.digests.state(of: World.alice, since: world.now)
        #expect(state.rows.map(\.row.arming) == [nil])
        var changes = DigestChanges()
        changes.fired = state.rows.map { .init(occurrence: $0.row.occurrence, sinks: ["log"], runID: "run") }
        let generation = try await store.identity.active().generation
        _ = try await store.digests.apply(
            changes,
            of: World.alice,
            generation: generation,
            server: World.server,
            now: world.now
        )
        #expect(try await store.digests.state(of: World.alice, since: world.now).rows.map(\.row.isFired) == [false])
        #expect(try await store.keys.verify().failed == 0)
    }

    // MARK: - Moves

    /// The columns of tables that move from one encrypted database to another.
    static let moved = SealedColumn.allCases.filter { column in
        column != .archivedStars && column != .shortlinkTargets && MovedTable.all.contains { $0.name == column.table }
    }

    @Test(arguments: moved)
    func anAccountMovesWithoutAValueThatDoesNotOpen(column: SealedColumn) async throws {
        let store = try await open()
        try await world.fill(store)
        try await addKeyAndAddress(store)
        try await flip(column)
        let trial = try await handOut(store, isTrial: true)
        let (text, lost) = try await handOut(store)
        #expect(lost == [column.rawValue: 1] && trial.lost == lost)
        let again = try await handOut(store)
        #expect(again.text == text && again.lost == lost)

        let other = World()
        let target = try await take(text, in: other)
        #expect(try await target.outbox.list(OutboxFilter()).count == 4)
        #expect(try await target.keys.signingKeys(of: World.alice).count == (column == .signingKey ? 0 : 1))
        #expect(try await target.stars.interests(of: World.alice).areStarsUnreadable == (column == .stars))
        // Every change but at most one is announced.
        let later = other.now + .seconds(61)
        let due = try await other.reclaim(target, at: later, until: later + .seconds(60))
        let new = try await other.claim(target, limit: 1000, id: "ntf_new")
        #expect(due.reduce(0) { $0 + $1.outgoing.count } + (new?.outgoing.count ?? 0) >= 3)
        #expect(due.allSatisfy { $0.outgoing.title != Unreadable.text && $0.outgoing.body != Unreadable.text })
        try await other.expectBalanced(target)
        #expect(try await target.keys.verify().failed == 0)
    }

    private func handOut(_ store: Store, isTrial: Bool = false) async throws -> (text: String, lost: [String: Int]?) {
        let handout = try await store.moves.handOut(World.alice, isTrial: isTrial, now: world.now)
        guard case .text(let text, _, _, let lost) = handout else { throw StoreError.damaged }
        return (text, lost)
    }

    /// Takes an account in at another encrypted database.
    private func take(_ text: String, in other: World) async throws -> Store {
        var options = other.options()
        options.masterKey = MasterKey()
        let target = try Store(options)
        let arrival = try await target.moves.take(
            AccountBundle(text: text),
            of: World.alice,
            into: AccountDestination(server: World.server, sinks: ["log"], addressed: [], pseudonym: nil),
            isTrial: false,
            now: world.now,
            dueAt: world.now
        )
        #expect(arrival == .arrived)
        return target
    }

    /// Expects that the one dead row has lost a value, whose stand-in opens like one, and can only be discarded.
    private func expectLoss(_ store: Store) async throws {
        let dead = try await store.outbox.ids(.dead, poll: nil, of: World.alice)
        #expect(dead.count == 1)
        #expect(try await store.outbox.unreadable(among: dead) == dead)
        let (now, sinks) = (world.now, ["log"])
        let retried = try await store.outbox.retry(dead, of: World.alice, sinks: sinks, now: now, make: renewed)
        #expect(retried == 0)
        #expect(try await store.outbox.discard(dead, now: now, make: renewed) == 1)
    }

    @Test(arguments: [SealedColumn.outboxPlan, .outboxName])
    func aChangeThatLostAValueOnAMoveIsNotRetriedThere(column: SealedColumn) async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...2))
        try await flip(column)
        let other = World()
        let target = try await take(try await handOut(store).text, in: other)
        #expect(try await other.deliverAll(target) == 1)
        try await expectLoss(target)
    }

    private func addKeyAndAddress(_ store: Store) async throws {
        let key = SigningKey(
            kid: "one",
            algorithm: .hs256,
            secret: Array(repeating: 7, count: 32),
            createdAt: world.now
        )
        #expect(try await store.keys.addSigningKey(key, of: World.alice, grace: .normal) == .added)
        var draft = AccountDraft(did: World.alice)
        draft.sinks = ["log": SinkAddress(url: "https://sink.test/secret")]
        try await store.write(.edit) { [draft] db in
            _ = try db.accounts.setSinks(of: draft)
            // As an agent for many accounts has it.
            let (key, token) = (db.key(World.alice), String(repeating: "0", count: 32))
            try db.run(
                "UPDATE feeds SET token = ?, sealed_token = ? WHERE account = ?",
                [db.vault.lookup(token, as: "feed"), try db.sealed(token, .feedToken, of: key, row: key), key]
            )
        }
    }

    // MARK: - Everything else

    /// Columns with one value after ``World/fill(_:)``, and what of the answers is then missing.
    static let columns = SealedColumn.allCases.filter {
        ![.did, .archivedStars, .signingKey, .sinkAddress, .feedToken, .movedBundle].contains($0)
    }

    @Test(arguments: columns)
    func noColumnsDamageStopsOtherWork(column: SealedColumn) async throws {
        var store = try await open()
        try await world.fill(store)
        try await flip(column)
        let contents = try await Contents(store, world)
        #expect(contents.rows.count == 4)
        #expect(contents.titles.count == 1)
        _ = try await store.status.snapshot([world.stream])
        _ = try await store.stars.interests(of: World.alice)
        _ = try await store.stars.setOptedOut(false, of: World.alice, server: World.server, now: world.now)
        try await world.commit(store, [world.change(9)])
        let later = world.now + .seconds(61)
        let due = try await world.reclaim(store, at: later, until: later + .seconds(60))
        let new = try await world.claim(store, limit: 1000, id: "ntf_new")
        // Every change but at most one is announced.
        let announced = due.reduce(0) { $0 + $1.outgoing.count } + (new?.outgoing.count ?? 0)
        #expect(announced >= 4)
        try await world.expectBalanced(store)
        #expect(store.health.failure == nil)

        _ = try await store.keys.replaceDataKeys()
        while try await !store.keys.reseal().isFinished {}
        #expect(await store.keys.resealProgress == nil)
        let failed = try await store.keys.verify().failed
        let lost = try await store.keys.decrypt().lost
        #expect(lost.values.reduce(0, +) == (column == .shortlinkTargets ? 0 : failed))
        #expect(failed == 0 || column == .shortlinkTargets || lost == [column.rawValue: 1])
        await store.close()
        var options = world.options()
        options.masterKey = nil
        store = try Store(options)
        #expect(try await store.outbox.list(OutboxFilter()).count == 5)
        try await world.expectBalanced(store)
        #expect(try await world.integrityCheck().isEmpty)
    }

    @Test func starsThatDoNotOpenAreUnreadableUntilTheyAreSet() async throws {
        let store = try await open()
        _ = try await store.stars.set(["a"], of: World.alice, server: World.server, now: world.now)
        try await flip(.stars)
        let interests = try await store.stars.interests(of: World.alice)
        #expect(interests.stars.isEmpty && interests.areStarsUnreadable)
        _ = try await store.stars.seedIfEmpty(["b"], of: World.alice, server: World.server, now: world.now)
        #expect(try await store.stars.interests(of: World.alice).areStarsUnreadable)
        _ = try await store.stars.set(["c"], of: World.alice, server: World.server, now: world.now)
        #expect(try await store.stars.interests(of: World.alice).stars == ["c"])
    }

    @Test func archivedStarsThatDoNotOpenAreNone() async throws {
        let store = try await open()
        _ = try await store.stars.set(["a"], of: World.alice, server: World.server, now: world.now)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        try await flip(.archivedStars)
        #expect(try await store.stars.archived(of: World.alice).map(\.stars) == [[]])
        _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        #expect(try await store.stars.restore(of: World.alice, server: World.server, now: world.now).isEmpty)
    }

    @Test func theConfiguredIdentityHealsOneThatDoesNotOpen() async throws {
        var store = try await open()
        try await world.fill(store)
        await store.close()
        try await flip(.did)
        store = try await open()
        #expect(try await store.identity.active().did == World.alice)
        #expect(try await store.keys.verify().failed == 0)
        #expect(try await store.outbox.list(OutboxFilter()).allSatisfy { $0.stream == world.stream })
    }

    @Test func rowsOfAnIdentityThatDoesNotOpenAreListedAndDiscarded() async throws {
        var store = try await open()
        try await world.commit(store, world.changes(1...2))
        try await world.killAll(store)
        _ = try await store.identity.set(World.bob, server: World.server, now: world.now)
        await store.close()
        try await flip(.did, where: "account IN (SELECT account FROM streams)")
        var options = world.options()
        options.masterKey = master
        store = try Store(options)
        let rows = try await store.outbox.list(OutboxFilter())
        #expect(rows.count == 2)
        _ = try await store.status.snapshot([world.stream])
        #expect(try await store.outbox.discard(rows.map(\.id), now: world.now, make: renewed) == 2)
        let result = try await store.keys.decrypt()
        #expect(result.lost == ["sealed_accounts.did": 1])
        #expect(try await store.outbox.list(OutboxFilter()).count == 2)
        #expect(try await store.identity.active().did == World.bob)
    }

    // MARK: - Decryption

    @Test func aDecryptedRowThatDidNotOpenIsSetAsideAndTheOthersAreDelivered() async throws {
        var store = try await open()
        try await world.commit(store, world.changes(1...3))
        try await flip(.outboxName)
        #expect(try await store.keys.decrypt().lost == ["notification_outbox.name": 1])
        await store.close()
        var options = world.options()
        options.masterKey = nil
        store = try Store(options)
        #expect(try await world.deliverAll(store) == 2)
        let rows = try await store.outbox.list(OutboxFilter())
        #expect(rows.map(\.reason) == [.unreadable, nil, nil])
        #expect(
            try await store.outbox.retry([rows[0].id], of: world.account, sinks: ["log"], now: world.now, make: renewed)
                == 0
        )
        #expect(try await store.outbox.discard([rows[0].id], now: world.now, make: renewed) == 1)
        try await world.expectBalanced(store)
    }

    @Test(arguments: [SealedColumn.outboxPlan, .outboxName])
    func aChangeThatLostAValueIsNotRetriedAfterAnotherEncryption(column: SealedColumn) async throws {
        let store = try await open()
        try await world.commit(store, world.changes(1...2))
        try await flip(column)
        #expect(try await store.keys.decrypt().lost == [column.rawValue: 1])
        _ = try await store.keys.encrypt(with: MasterKey())
        #expect(try await world.deliverAll(store) == 1)
        try await expectLoss(store)
    }

    // MARK: - Rotation

    @Test func aRotationBetweenAFetchAndItsCommitCancelsNothing() async throws {
        let store = try await open()
        _ = try await store.stars.set(["plan", "b"], of: World.alice, server: World.server, now: world.now)
        let interests = try await store.stars.interests(of: World.alice)
        for n in 1...3 {
            _ = try await store.keys.replaceDataKeys()
            while try await !store.keys.reseal().isFinished {}
            #expect(try await store.stars.interests(of: World.alice) == interests)
            let counts = try await world.commit(store, [world.change(n)]) { $0.expectedInterests = interests }
            #expect(counts?.inserted == 1)
        }
        let generation = try await store.identity.active().generation
        let isFinished = try await store.polls.finishBootstrap(
            world.stream,
            generation: generation,
            interests: interests,
            top: nil,
            now: world.now
        )
        #expect(isFinished)
        // A change of the stars still counts.
        _ = try await store.stars.set(["b", "plan"], of: World.alice, server: World.server, now: world.now)
        #expect(try await world.commit(store, [world.change(4)]) { $0.expectedInterests = interests } == nil)
    }

    // MARK: - Health

    @Test func onlyThePartThatFailedEndsItsFailure() async throws {
        let store = try await open()
        store.health.ended(.delivery, failed: true)
        store.health.ended(.acknowledgement, failed: false)
        store.health.ended(.poll(world.stream.poll), failed: false)
        try await store.status.probe(writes: true)
        try await world.commit(store, [world.change(1)])
        #expect(store.health.failsSomePart)
        store.health.ended(.delivery, failed: false)
        #expect(!store.health.failsSomePart)
    }
}
