import Crypto
import FoundationEssentials
import StarwatchCore

extension OutboxRows {
    var lists: ListRows { ListRows(db: db) }
}

/// The states of lists and the keys of their seen items, in one access.
struct ListRows {
    /// The length of a list's key, in bytes.
    private static let keyLength = 32

    let db: Session

    /// The items that were seen of a list; `nil` if none was.
    ///
    /// - Throws: ``StoreError/sealed(_:)`` if the key of its digests does not open.
    func seen(of stream: Int64) throws -> SeenItems? {
        let stored: Data? = try db.value("SELECT item_key FROM list_states WHERE stream_id = ?", [stream])
        guard let stored else { return nil }
        let key = try db.opened(stored, .listKey, row: place(stream))
        // One that was lost in a decrypted database, or on the way to another agent, is empty.
        guard key.count == Self.keyLength else { throw StoreError.sealed(.damaged) }
        return SeenItems(db: db, stream: stream, key: SymmetricKey(data: key))
    }

    /// The same, with a new key for a list of which nothing was seen.
    func madeSeen(of stream: Int64) throws -> SeenItems {
        if let seen = try seen(of: stream) { return seen }
        let key = db.context.options.newKey()
        try db.run(
            "INSERT INTO list_states (stream_id, item_key) VALUES (?, ?)",
            [stream, try db.sealed(key, .listKey, of: db.streams.owner(of: stream), row: place(stream))]
        )
        return SeenItems(db: db, stream: stream, key: SymmetricKey(data: key))
    }

    /// The state of a list; `nil` if it is not known, or does not open.
    func state(of stream: Int64) throws -> ListState? {
        let stored: String? = try db.value("SELECT state FROM list_states WHERE stream_id = ?", [stream])
        let text = try ifReadable { try db.opened(stored, .listState, row: place(stream)) } ?? nil
        return text.flatMap { try? JSONDecoder().decode(ListState.self, from: Data($0.utf8)) }
    }

    func store(_ state: ListState, of stream: Int64) throws {
        let text = StableJSON.text(of: state)
        try db.run(
            "UPDATE list_states SET state = ? WHERE stream_id = ?",
            [try db.sealed(text, .listState, of: db.streams.owner(of: stream), row: place(stream)), stream]
        )
    }

    /// Forgets a list, as if it had never been polled.
    func forget(_ stream: Int64) throws {
        try db.run("DELETE FROM seen_items WHERE stream_id = ?", [stream])
        try db.run("DELETE FROM list_states WHERE stream_id = ?", [stream])
    }

    /// Makes the items news again whose rows no sink has, because those rows end with their identity. The server does not know
    /// their identifiers, so only the items can bring them back.
    func forgetOpen(of stream: Int64) throws {
        guard let seen = try ifReadable({ try seen(of: stream) }) ?? nil else { return }
        let items: [(id: String, isEdition: Bool)?] = try db.all(
            """
            SELECT jwt_id, plan_id, is_edition FROM notification_outbox o
            WHERE state IN ('pending', 'claimed') AND stream_id = ? AND \(Schema.isOpen) AND NOT EXISTS
                (SELECT 1 FROM deliveries d WHERE d.notification_id = o.notification_id AND d.state = 'ok')
            """,
            [stream]
        ) { row in
            let place = db.outbox.place(stream, try row["jwt_id"])
            let id = try ifReadable { try db.opened(row["plan_id"], .outboxPlan, row: place) as String }
            return try id.map { ($0, try row["is_edition"]) }
        }
        for item in items.compactMap(\.self) { try seen.forget(item.id, isEdition: item.isEdition) }
    }

    /// The largest identifier of a stream so far; `nil` if it has none.
    func lastIdentifier(of stream: Int64) throws -> JWTID? {
        try db.value(
            """
            SELECT max(id) FROM (SELECT fetch_cursor AS id FROM streams WHERE id = ?1
                UNION ALL SELECT max(jwt_id) FROM notification_outbox WHERE stream_id = ?1)
            """,
            [stream]
        )
    }

    /// The text that binds the values of a list to it.
    private func place(_ stream: Int64) -> String { "\(stream)" }
}
