import GRDB
import StarwatchCore
import Testing

@testable import StarwatchStore

/// Two accounts have work in one database. Work for one leaves the rows of the other.
@Suite struct TwoAccountTests {
    let world = World()
    let bob = StreamKey(account: World.bob, server: World.server, poll: PollName("starred_projects")!)

    /// The functions for an account that look at all of its rows.
    enum Work: CaseIterable {
        case retainSinks, readdress, settleFutureTimes, freeLeases, reclaim, evict, retry, act, giveUp
    }

    /// How the accounts are worked for.
    enum Service: CaseIterable {
        /// Both are served.
        case accounts
        /// Both were the active identity, and `bob` is it now.
        case activeIdentity
    }

    /// A store in which both accounts have rows of every kind.
    private func store(_ service: Service) async throws -> Store {
        let store = try await world.open()
        if service == .accounts { try await serveBoth(store) }
        for (stream, name) in [(world.stream, "a"), (bob, "b")] {
            _ = try await store.polls.state(stream, maxUndelivered: 1000)
            if service == .activeIdentity { try await store.makeActive(stream.account, now: world.now) }
            try await fill(store, stream, name)
        }
        return store
    }

    private func serveBoth(_ store: Store) async throws {
        let drafts = [World.alice, World.bob].map { AccountDraft(did: $0) }
        let now = world.now
        _ = try await store.accounts.add(drafts, server: World.server, now: now) { _ in now }
    }

    /// An acknowledgement, a dead row, two notifications of which one lists too many rows, a snooze, and pending rows.
    private func fill(_ store: Store, _ stream: StreamKey, _ name: String) async throws {
        try await world.commit(store, world.changes(1...2), stream: stream)
        try await answer(store, stream, "ntf_\(name)1", .ok)
        _ = try await store.acknowledgements.nextBatch(stream, limit: 10, now: world.now) { "key \(name)" }
        try await world.commit(store, world.changes(3...4), stream: stream)
        try await answer(store, stream, "ntf_\(name)2", .rejected(nextAttemptAt: world.now))
        try await world.commit(store, world.changes(5...9), stream: stream)
        _ = try await claim(store, stream, "ntf_\(name)3")
        _ = try await store.notifications.act(
            .snooze,
            on: "ntf_\(name)3",
            of: stream.account,
            sinks: ["x"],
            now: world.now
        )
        let snooze = StoredNotification.idOfRepetition(of: "ntf_\(name)3")
        try await store.digests.giveUp(snooze, of: stream.account, now: world.now)
        try await store.write(.edit) { db in
            try db.run("UPDATE notifications SET row_count = 500 WHERE token = ?", ["ntf_\(name)3"])
        }
        try await world.commit(store, world.changes(11...19), stream: stream)
    }

    private func answer(_ store: Store, _ stream: StreamKey, _ id: String, _ outcome: DeliveryOutcome) async throws {
        for ticket in try await claim(store, stream, id).flatMap(\.tickets) {
            _ = try await store.deliveries.record(ticket, outcome, now: world.now, maxRetries: 1)
        }
    }

    private func claim(_ store: Store, _ stream: StreamKey, _ id: String) async throws -> [OpenNotification] {
        let end = world.now + .seconds(60)
        let now = world.now
        return try await store.deliveries.claim(stream, now: now, limit: 100, leaseUntil: end, sinks: ["log"]) {
            rows,
            _ in
            let message = NotificationMessage(
                id: id,
                runID: "run",
                poll: stream.poll,
                kind: .starredProjects,
                changes: rows.prefix(3).map(\.change),
                context: NotificationContext(),
                createdAt: now
            )
            return (OutgoingNotification(message), nil)
        }
    }

    private func perform(_ work: Work, _ store: Store, of account: DID, _ name: String) async throws {
        let (past, later) = (world.now - .days(1), world.now + .days(1))
        switch work {
        case .retainSinks: _ = try await store.deliveries.retainSinks(["other"], of: account, now: later)
        case .readdress: try await store.deliveries.readdress(of: account, to: ["other"], now: later)
        case .settleFutureTimes:
            try await store.deliveries.settleFutureTimes(
                of: account,
                now: past,
                local: past,
                lease: .zero,
                longestWait: .zero
            )
        case .freeLeases: try await store.deliveries.freeLeases(of: account)
        case .reclaim: _ = try await store.deliveries.reclaim(of: account, now: later, leaseUntil: later)
        case .evict:
            _ = try await store.outbox.evict(.fifo, of: account, server: World.server, maxUndelivered: 2, now: later)
        case .retry:
            let rows = try await store.outbox.ids(.dead, poll: nil, of: nil)
            _ = try await store.outbox.retry(rows, of: account, sinks: ["log"], now: later, make: renewed)
        case .act:
            for other in ["a", "b"] {
                _ = try await store.notifications.act(.dismiss, on: "ntf_\(other)3", of: account, sinks: [], now: later)
            }
        case .giveUp:
            for other in ["a", "b"] {
                try await store.digests.giveUp("ntf_\(other)3", of: account, now: later)
            }
        }
    }

    @Test(arguments: Work.allCases, Service.allCases)
    func workForAnAccountLeavesTheRowsOfTheOther(_ work: Work, _ service: Service) async throws {
        let store = try await store(service)
        let (own, other) = (try await store.rows(of: World.bob), try await store.rows(of: World.alice))
        #expect(own.count == other.count && own.count > 20)
        try await perform(work, store, of: World.bob, "b")
        #expect(try await store.rows(of: World.alice) == other)
        #expect(try await store.rows(of: World.bob) != own, "the work has found nothing to do")
    }

    /// Otherwise the digests of one account would wait for the times of the other.
    @Test(arguments: Service.allCases)
    func eachAccountHasTheProgressOfItsDigests(_ service: Service) async throws {
        let store = try await world.open()
        if service == .accounts { try await serveBoth(store) }
        let daily = try #require(DigestName("daily"))
        for (account, days) in [(World.alice, 1), (World.bob, 2)] {
            if service == .activeIdentity { try await store.makeActive(account, now: world.now) }
            var changes = DigestChanges()
            changes.armedThrough = [daily: world.now + .days(days)]
            let generation = try await store.identity.active(of: account).generation
            _ = try await store.digests.apply(
                changes,
                of: account,
                generation: generation,
                server: World.server,
                now: world.now
            )
        }
        for (account, days) in [(World.alice, 1), (World.bob, 2)] {
            let state = try await store.digests.state(of: account, since: world.now)
            #expect(state.armedThrough == [daily: world.now + .days(days)])
        }
        switch service {
        case .accounts: _ = try await store.accounts.remove(World.bob, now: world.now)
        case .activeIdentity: _ = try await store.identity.set(World.alice, server: World.server, now: world.now)
        }
        #expect(try await store.digests.state(of: World.bob, since: world.now).armedThrough == [:])
        #expect(try await store.digests.state(of: World.alice, since: world.now).armedThrough.count == 1)
    }

    @Test(arguments: Service.allCases)
    func bothAccountsHaveOpenNotifications(_ service: Service) async throws {
        let store = try await store(service)
        #expect(try await Set(store.deliveries.accounts()) == [World.alice, World.bob])
    }
}

extension Store {
    /// Makes an account the active identity without an end of the former one, as a host program can.
    fileprivate func makeActive(_ account: DID, now: Timestamp) throws {
        try write(.identity) { db in
            try db.identity.ensureSettings(account, server: World.server, now: now)
            _ = try db.identity.point(to: account, generation: 1, now: now)
        }
    }

    /// The stored rows that belong to an account.
    fileprivate func rows(of account: DID) throws -> [String] {
        let stream = "stream_id IN (SELECT id FROM streams WHERE account = ?)"
        let notification = "notification_id IN (SELECT id FROM notifications WHERE \(stream))"
        let tables = [
            ("streams", "account = ?"), ("ledger", stream), ("notification_outbox", stream), ("ack_batches", stream),
            ("notifications", stream), ("deliveries", notification), ("notification_actions", notification),
        ]
        let key = try direct(.read) { db in db.key(account) }
        return try database.writeWithoutTransaction { db in
            try tables.flatMap { table, condition in
                try Row.fetchAll(db, sql: "SELECT * FROM \(table) WHERE \(condition) ORDER BY 1, 2", arguments: [key])
                    .map { "\(table) \($0)" }
            }
        }
    }
}
