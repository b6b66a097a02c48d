import FoundationEssentials
import GRDB
import StarwatchCore
import Synchronization
import Testing

@testable import StarwatchStore

/// The statements of a change's way, and how SQLite finds their rows. A table that grows with the changes is never read
/// from end to end.
@Suite struct StatementPlanTests {
    let world = World()

    /// Tables with a few rows, by the names that the statements give them; `q`, the limited quarantine, which is counted;
    /// and `history`, which is read from its end.
    static let small: Set<String> = [
        "s", "t", "streams", "i", "active_identity", "q", "json_each", "servers", "ledger_totals", "sealing", "history",
        "CONSTANT",
    ]

    /// Indexes of unfinished or failed rows alone.
    static let partial = ["idx_notifications_open", "idx_deliveries_lost"]

    /// Whether a step of a plan reads a growing table from end to end.
    private func readsAll(_ step: String) -> Bool {
        let words = step.split(separator: " ").map(String.init)
        // A search without a condition is a scan for a minimum.
        guard words[0] == "SCAN" || words[0] == "SEARCH" && !step.contains("(") else { return false }
        return !words[1].hasPrefix("(subquery") && !Self.small.contains(words[1])
            && !Self.partial.contains { step.contains("INDEX \($0)") }
    }

    /// The plans of statements, without those that only begin or end a transaction.
    private func plans(of statements: [String]) async throws -> [(sql: String, steps: [String])] {
        let kinds = ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"]
        let distinct = Set(statements.filter { sql in kinds.contains { sql.hasPrefix($0) } }).sorted()
        return try await DatabaseQueue(path: world.path).read { db in
            try distinct.map { sql in
                let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
                statement.setUncheckedArguments(StatementArguments())
                return (sql, try Row.fetchAll(statement).map { $0["detail"] })
            }
        }
    }

    /// Everything that happens to a page of changes, from its fetch to the watermark, and what looks at it meanwhile.
    private func wayOfAChange(_ store: Store) async throws {
        try await world.commit(store, world.changes(1...3))
        try await world.commit(store, world.changes(3...4))
        _ = try await store.deliveries.dueSummary(world.stream)
        let open = try #require(try await world.claim(store, sinks: ["a", "b"]))
        _ = try await store.deliveries.nextAt(of: world.account)
        _ = try await store.deliveries.record(open.tickets[0], .ok, now: world.now, maxRetries: 3)
        _ = try await store.deliveries.record(
            open.tickets[1],
            .unavailable(nextAttemptAt: world.now),
            now: world.now,
            maxRetries: 3
        )
        for outcome in [DeliveryOutcome.rejected(nextAttemptAt: world.now), .ok] {
            let again = try await world.reclaim(store, until: world.now)
            let ticket = try #require(again.first?.tickets.first)
            _ = try await store.deliveries.record(ticket, outcome, now: world.now, maxRetries: 3)
        }
        let batch = try #require(
            try await store.acknowledgements.nextBatch(world.stream, limit: 9, now: world.now) { "key" }
        )
        _ = try await store.acknowledgements.nextAt(world.stream)
        #expect(try await store.acknowledgements.complete(batch, now: world.now).acknowledged == 4)
        _ = try await store.acknowledgements.advanceWatermark(world.stream, now: world.now)
        try await store.polls.finishCycle(CycleRecord.make(world, .changed))
        _ = try await store.status.snapshot([world.stream])
    }

    @Test func noStatementOfAChangeReadsAGrowingTableFromEndToEnd() async throws {
        let store = try await world.open()
        let plans = try await plans(of: Recorded.statements(of: store) { try await wayOfAChange(store) })
        #expect(plans.count > 40)
        #expect(plans.contains { $0.sql.contains("identities") })
        // A new stream is rare. Its foreign keys are searched for only after an earlier violation in the same transaction.
        for (sql, steps) in plans where !sql.hasPrefix("INSERT INTO streams") {
            for step in steps where readsAll(step) { Issue.record("\(step) in \(sql)") }
        }
    }

    @Test(arguments: [
        ("SELECT reason, jwt_id, plan_id", "idx_outbox_priority"),
        ("SELECT count(*) AS count, min(created_at)", "USING COVERING INDEX idx_outbox_priority"),
        ("UPDATE notification_outbox SET state = 'delivered'", "idx_outbox_claimed"),
        ("UPDATE notification_outbox SET retry_count", "idx_outbox_claimed"),
        ("SELECT min(created_at) FROM (", "idx_outbox_claimed"),
        ("SELECT min(jwt_id) FROM notification_outbox", "idx_outbox_open"),
        ("SELECT id, jwt_id FROM (", "idx_outbox_unacknowledged"),
        ("SELECT n.id, n.token, s.account", "idx_notifications_open"),
        ("SELECT count(DISTINCT n.id)", "idx_deliveries_lost"),
        ("SELECT generation FROM identities", "accounts USING PRIMARY KEY (account=?)"),
        ("SELECT generation FROM identities", "active_identity USING INTEGER PRIMARY KEY"),
        ("SELECT (SELECT i.generation FROM identities", "accounts USING PRIMARY KEY (account=?)"),
    ])
    func anIndexIsUsedByItsStatement(beginning: String, index: String) async throws {
        let store = try await world.open()
        let plans = try await plans(of: Recorded.statements(of: store) { try await wayOfAChange(store) })
        let found = plans.filter { $0.sql.hasPrefix(beginning) }
        #expect(!found.isEmpty)
        for (sql, steps) in found { #expect(steps.contains { $0.contains(index) }, "\(steps) in \(sql)") }
    }

    /// The reads of snapshots while a change of the plan is stored.
    private func snapshotReads(_ store: Store, _ n: Int) async throws -> Int {
        let statements = try await Recorded.statements(of: store) {
            try await world.commit(store, [world.change(n)]) { page in
                page.edit(world.id(n)) { $0.details = PlanDetails([.name: "\(n)"]) }
            }
        }
        return statements.filter { $0.hasPrefix("SELECT jwt_id, fields FROM plan_snapshots") }.count
    }

    @Test func thePlansOfThePageBeforeAreReadAgainOnlyAfterAnotherChange() async throws {
        let store = try await world.open()
        #expect(try await snapshotReads(store, 1) == 1)
        #expect(try await snapshotReads(store, 2) == 0)
        _ = try await world.claim(store)
        #expect(try await snapshotReads(store, 3) == 1)
    }
}

extension StatementPlanTests {
    /// Otherwise each visit would cost the more, the more accounts there are.
    @Test func noStatementOfAVisitReadsAllAccounts() async throws {
        let store = try await world.open()
        let (now, later) = (world.now, world.now + .seconds(30))
        let plans = try await plans(
            of: Recorded.statements(of: store) {
                let draft = AccountDraft(did: World.alice)
                _ = try await store.accounts.add([draft], server: World.server, now: now) { _ in now }
                let lease = try #require(
                    try await store.accounts.claim(
                        limit: 9,
                        owner: "owner",
                        now: now,
                        until: later,
                        for: LeaseTerm(from: .zero)
                    ).leases.first
                )
                try await world.commit(store, world.changes(1...3))
                let term = LeaseTerm(from: .zero)
                _ = try await store.accounts.claim(
                    .delivery,
                    limit: 9,
                    owner: "owner",
                    now: now,
                    until: later,
                    for: term
                )
                for work in [VisitWork.all, .delivery] { _ = try await store.accounts.nextDue(work) }
                _ = try await store.accounts.renew(until: later, for: term)
                try await store.accounts.makeDue(World.alice, now: now)
                _ = try await store.accounts.release(lease, next: later, attempted: now, succeeded: now)
                _ = try await store.accounts.list(after: World.bob, limit: 9)
            }
        )
        // The claims of both kinds of work, and the next time.
        #expect(plans.filter { $0.steps.contains { $0.contains("idx_leases_due") } }.count >= 4)
        for (sql, steps) in plans {
            // The next time is that of the first row in the order of the index.
            let isOrdered = sql.contains("ORDER BY l.due_at LIMIT 1")
            for step in steps where step.contains(/SCAN (?:a|l|i|accounts|leases|identities)\b/) {
                if isOrdered, step.contains("SCAN l USING COVERING INDEX idx_leases_due") { continue }
                Issue.record("\(step) in \(sql)")
            }
        }
    }
}

extension StatementPlanTests {
    /// Otherwise a retry of one change would cost the more, the more changes and lost deliveries all accounts have.
    @Test func noStatementOfARetryReadsAllChangesForThoseThatWereJoined() async throws {
        let store = try await world.open()
        let opening = world.now + .seconds(100)
        for n in 1...2 { try await world.announce(store, n, heldUntil: opening) }
        world.now = opening
        let joined = try await world.joinHeld(store) { "ntf_joined" }
        #expect(joined.count == 1)
        let open = try await world.reclaim(store, until: opening + .seconds(60))
        let ticket = try #require(open.first?.tickets.first)
        _ = try await store.deliveries.record(ticket, .rejected(nextAttemptAt: opening), now: opening, maxRetries: 1)
        let dead = try await store.outbox.ids(.dead, poll: nil, of: world.account)
        #expect(dead.count == 2)
        let all = try await plans(
            of: Recorded.statements(of: store) {
                let sinks = ["phone"]
                let count = try await store.outbox.retry(
                    [dead[0]],
                    of: world.account,
                    sinks: sinks,
                    now: opening,
                    make: renewed
                )
                #expect(count == 2)
            }
        )
        let plans = all.filter { $0.sql.contains("carried_by") }
        for (sql, steps) in plans {
            for step in steps where readsAll(step) { Issue.record("\(step) in \(sql)") }
        }
        for (beginning, step) in [
            ("SELECT DISTINCT n.id FROM json_each", "SEARCH d USING"),
            ("SELECT o.id, o.notification_id FROM notifications", "(stream_id=? AND jwt_id=?)"),
        ] {
            let found = plans.filter { $0.sql.hasPrefix(beginning) }
            #expect(!found.isEmpty, "\(beginning)")
            for (sql, steps) in found { #expect(steps.contains { $0.contains(step) }, "\(steps) in \(sql)") }
        }
    }
}

final class Recorded: Sendable {
    let texts = Mutex<[String]>([])

    func add(_ text: String) { texts.withLock { $0.append(text) } }

    /// The statements that `work` runs, without their arguments.
    static func statements(
        of store: Store,
        during work: () async throws -> Void
    ) async throws -> [String] {
        let statements = Recorded()
        try await store.database.writeWithoutTransaction { db in
            db.trace { event in if case .statement(let statement) = event { statements.add(statement.sql) } }
        }
        try await work()
        try await store.database.writeWithoutTransaction { db in db.trace(nil) }
        return statements.texts.withLock { $0 }
    }
}
