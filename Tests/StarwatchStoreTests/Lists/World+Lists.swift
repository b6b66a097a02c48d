import GRDB
import StarwatchCore
import Synchronization

@testable import StarwatchStore

extension World {
    /// The stream of a list.
    static let list = StreamKey(account: alice, server: StreamKey.lists, poll: PollName("releases")!)
    /// That of another list of the account.
    static let otherList = StreamKey(account: alice, server: StreamKey.lists, poll: PollName("incidents")!)

    /// The `n`-th item of the list.
    func item(_ n: Int, version: String = "1", rank: Int64? = nil) -> ListItem {
        ListItem(
            id: "item-\(n)",
            version: ItemVersion(version, rank: rank),
            name: "name \(n)",
            details: ItemDetails(link: "https://releases.example/\(n)", fields: ["author": "author \(n)"])
        )
    }

    func items(_ range: some Sequence<Int>) -> [ListItem] { range.map { item($0) } }

    /// Stores a page of a list.
    @discardableResult
    func commit(
        _ store: Store,
        items: [ListItem],
        room: Int = 1000,
        of stream: StreamKey = World.list,
        _ edit: (inout ListCommit) -> Void = { _ in }
    ) async throws -> PageCommitCounts? {
        let state = try await store.polls.state(stream, maxUndelivered: 1000)
        var commit = ListCommit(
            stream: stream,
            expectedGeneration: state.generation,
            runID: "run",
            items: items,
            room: room,
            now: now
        )
        edit(&commit)
        return try await store.outbox.commit(list: commit)
    }

    /// The ids of the items that are news.
    func news(_ store: Store, _ items: [ListItem]) async throws -> [String] {
        try await store.outbox.news(among: items, of: Self.list).map(\.id)
    }

    /// The rows of a list.
    func listRows(_ store: Store, of stream: StreamKey = World.list) async throws -> [OutboxRow] {
        var filter = OutboxFilter()
        filter.poll = stream.poll
        return try await store.outbox.list(filter)
    }

    /// Delivers all pending rows of a list.
    ///
    /// - Returns: The announced changes.
    @discardableResult
    func announceList(
        _ store: Store,
        id: String = "ntf_list",
        of stream: StreamKey = World.list
    ) async throws -> [Change] {
        let announced = Announced()
        let open = try await store.deliveries.claim(
            stream,
            now: now,
            limit: 1000,
            leaseUntil: now + .seconds(60),
            sinks: ["log"]
        ) { rows, _ in
            announced.add(rows.map(\.change))
            return (.made(id, count: rows.count), nil)
        }
        for notification in open {
            _ = try await store.deliveries.record(notification.tickets[0], .ok, now: now, maxRetries: 3)
        }
        return announced.changes
    }

    /// The number of rows of a table.
    func count(_ table: String, where condition: String = "1") async throws -> Int {
        try await DatabaseQueue(path: path).read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table) WHERE \(condition)") ?? 0
        }
    }
}

/// The changes of claimed rows.
private final class Announced: Sendable {
    private let state = Mutex<[Change]>([])

    var changes: [Change] { state.withLock(\.self) }

    func add(_ more: [Change]) { state.withLock { $0 += more } }
}
