import FoundationEssentials
import GRDB
import Glibc
import StarwatchCore
import Testing

@testable import StarwatchStore

/// A store in its own directory, an account, and a clock that moves only on request.
final class World {
    static let alice = DID("did:ethr:0xalice")!
    static let bob = DID("did:ethr:0xbob")!
    static let server = "https://api.example"

    let directory: String
    var path: String { directory + "/starwatch.db" }
    let stream = StreamKey(account: alice, server: server, poll: PollName("starred_projects")!)
    var account: DID { stream.account }
    var now = Timestamp(seconds: 1_767_225_600)

    /// The master key of new databases; `nil` for databases that are not encrypted. `scripts/test --full` runs the
    /// suites with both.
    static let masterKey = ProcessInfo.processInfo.environment["STARWATCH_TEST_SEALED"] == "1" ? MasterKey() : nil

    /// Whether databases are not encrypted. Tests that read or write the file themselves need that.
    static var isClear: Bool { masterKey == nil }

    init() {
        directory = NSTemporaryDirectory.make()
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func options() -> StoreOptions {
        var options = StoreOptions(path: path)
        options.polls = [stream.poll]
        options.starredPolls = [stream.poll]
        options.masterKey = Self.masterKey
        return options
    }

    /// Opens the store with `alice` signed in, and frees the leases of an earlier process, as an agent does.
    func open(_ change: (inout StoreOptions) -> Void = { _ in }) async throws -> Store {
        var options = options()
        change(&options)
        let store = try Store(options)
        _ = try await store.identity.seedIfEmpty(Self.alice, server: Self.server, now: now)
        try await store.deliveries.freeLeases(of: Self.alice)
        return store
    }

    /// The `n`-th change, one second after the previous one.
    func change(_ n: Int, plan: String = "plan") -> Change {
        Change(id: id(n), plan: plan, name: "name \(n)")
    }

    func id(_ n: Int) -> JWTID { JWTID.floor(.ulid, at: Timestamp(seconds: 1_767_000_000 + Int64(n))) }

    func changes(_ range: some Sequence<Int>) -> [Change] { range.map { change($0) } }

    @discardableResult
    func commit(
        _ store: Store,
        _ changes: [Change],
        room: Int = 1000,
        stream: StreamKey? = nil,
        _ edit: (inout PageCommit) -> Void = { _ in }
    ) async throws -> PageCommitCounts? {
        let stream = stream ?? self.stream
        let state = try await store.polls.state(stream, maxUndelivered: 1000)
        var page = PageCommit(
            stream: stream,
            expectedGeneration: state.generation,
            runID: "run",
            changes: changes.map { FetchedChange($0) },
            room: room,
            now: now
        )
        page.cursor = .followItems(upTo: nil)
        edit(&page)
        return try await store.outbox.commit(page: page)
    }

    /// Claims rows for one notification.
    func claim(
        _ store: Store,
        limit: Int = 100,
        sinks: [String] = ["log"],
        id: String = "ntf_1",
        lease: Duration = .seconds(60)
    ) async throws -> OpenNotification? {
        let open = try await claimAll(store, limit: limit, sinks: sinks, id: id, lease: lease)
        #expect(open.count <= 1)
        return open.first
    }

    /// Claims rows for one or more notifications. The ids of further parts end with their number.
    func claimAll(
        _ store: Store,
        limit: Int = 1000,
        sinks: [String] = ["log"],
        id: String = "ntf_1",
        lease: Duration = .seconds(60)
    ) async throws -> [OpenNotification] {
        try await store.deliveries.claim(
            stream,
            now: now,
            limit: limit,
            leaseUntil: now + lease,
            sinks: sinks
        ) { rows, part in
            let suffix = part.flatMap { $0.number > 1 ? "_\($0.number)" : nil } ?? ""
            return (.made(id + suffix, count: rows.count), nil)
        }
    }

    /// Leases the account's due deliveries until `end`, now or at another time.
    func reclaim(_ store: Store, at time: Timestamp? = nil, until end: Timestamp) async throws -> [OpenNotification] {
        try await store.deliveries.reclaim(of: account, now: time ?? now, leaseUntil: end)
    }

    /// Evicts rows of the account beyond a limit.
    func evict(_ store: Store, _ policy: EvictionPolicy, limit: Int) async throws -> Int {
        try await store.outbox.evict(policy, of: account, server: Self.server, maxUndelivered: limit, now: now)
    }

    /// Claims and delivers all pending rows.
    @discardableResult
    func deliverAll(_ store: Store, id: String = "ntf_all") async throws -> Int {
        var count = 0
        for notification in try await claimAll(store, id: id) {
            let result = try await store.deliveries.record(notification.tickets[0], .ok, now: now, maxRetries: 3)
            if case .delivered(let ids) = result { count += ids.count }
        }
        return count
    }

    /// Makes all pending rows dead.
    func killAll(_ store: Store, id: String = "ntf_dead") async throws {
        for notification in try await claimAll(store, id: id) {
            _ = try await store.deliveries.record(
                notification.tickets[0],
                .rejected(nextAttemptAt: now),
                now: now,
                maxRetries: 1
            )
        }
    }

    func expectBalanced(_ store: Store, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let snapshot = try await store.status.snapshot([])
        #expect(snapshot.fetchedImbalance == 0 && snapshot.newImbalance == 0, sourceLocation: sourceLocation)
    }

    /// The findings of SQLite's integrity check; empty if the file is intact.
    func integrityCheck() async throws -> [String] {
        try await DatabaseQueue(path: path).read { db in
            try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
        }
    }

    /// The statements of the schema, without the spaces that a migration can change, the version, and the migrations
    /// that GRDB would not run again.
    func schema() throws -> [String] {
        try DatabaseQueue(path: path).read { db in
            let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name"
            let statements = try String.fetchAll(db, sql: sql).map { $0.filter { !$0.isWhitespace } }
            var done: [String] = []
            if try db.tableExists("grdb_migrations") {
                done = try String.fetchAll(db, sql: "SELECT * FROM grdb_migrations ORDER BY 1")
            }
            return try statements + [String(Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0)] + done
        }
    }
}

extension Store {
    /// The number of rows by state, for dead rows and all open states. Every state has an entry.
    func outboxCounts() async throws(StoreError) -> [OutboxState: Int] {
        try await status.snapshot([]).rows
    }

    /// Moves the watermark without looking at the rows.
    func swapWatermark(
        _ stream: StreamKey,
        expected: JWTID?,
        new: JWTID,
        now: Timestamp
    ) throws(StoreError) -> Bool {
        try write(.watermark) { db in try db.acknowledgements.swap(stream, expected: expected, new: new, now) }
    }
}

enum NSTemporaryDirectory {
    static func make() -> String {
        let base = FileManager.default.temporaryDirectory.path
        let path = base + "/starwatch-store-" + UUID().uuidString
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }
}

/// Counts what a store tells its observer. Uses a pthread lock, because ThreadSanitizer does not understand `Synchronization.Mutex`.
final class Witness: Sendable {
    private nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    // Accessed only with `mutex` locked.
    private nonisolated(unsafe) var values: [String: Int] = [:]

    init() { pthread_mutex_init(mutex, nil) }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func add(_ key: String, _ count: Int = 1) {
        pthread_mutex_lock(mutex)
        values[key, default: 0] += count
        pthread_mutex_unlock(mutex)
    }

    subscript(key: String) -> Int {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return values[key, default: 0]
    }
}

extension Witness: StoreObserver {
    func ended(_ operation: StoreOperation, after duration: Duration) {
        #expect(duration > .zero)
        add(operation.rawValue)
    }
    func failed(_ kind: StoreErrorKind) { add(kind.rawValue) }
    func changed(_ rows: [OutboxChange: Int]) { for (change, count) in rows { add(change.rawValue, count) } }
    func missedCycle(_ error: StoreError) { add("missed") }
}

/// Renders the rest of a notification in English.
@Sendable
func renewed(_ remainder: NotificationRemainder) -> (notification: OutgoingNotification, shortlink: Shortlink?)? {
    remainder.message.without(
        remainder.discarded,
        offers: remainder.offers,
        poll: remainder.poll,
        kind: .starredProjects,
        context: NotificationContext()
    ).map { (OutgoingNotification($0), nil) }
}

extension OutgoingNotification {
    static func made(_ id: String, count: Int) -> OutgoingNotification {
        OutgoingNotification(
            id: id,
            runID: "run",
            poll: "starred_projects",
            group: NotificationGroup(count: count),
            count: count,
            text: ("Title", "\(count) rows"),
            payload: Array("{}".utf8)
        )
    }
}

extension PageCommit {
    /// Edits the change with an identifier.
    mutating func edit(_ id: JWTID, _ edit: (inout FetchedChange) -> Void) {
        for index in changes.indices where changes[index].id == id { edit(&changes[index]) }
    }
}
