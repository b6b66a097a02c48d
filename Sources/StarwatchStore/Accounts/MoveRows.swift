import FoundationEssentials
import StarwatchCore

/// The moves of accounts between agents, in one access.
struct MoveRows {
    let db: Session

    // MARK: - Records

    /// The last move of an account, and whether another agent has the account since; `nil` if it never moved.
    func record(of account: DID) throws -> (id: String, number: Int, isGone: Bool, movedAt: Timestamp)? {
        try db.row("SELECT move_id, number, state, moved_at FROM account_moves WHERE account = ?", [db.key(account)])
            .map { (try $0["move_id"], try $0["number"], try $0["state"] == "gone", try $0["moved_at"]) }
    }

    /// The time since which another agent has the account; `nil` if none has.
    func goneSince(_ account: DID) throws -> Timestamp? {
        try record(of: account).flatMap { $0.isGone ? $0.movedAt : nil }
    }

    /// The account that left last; `nil` if none did.
    func lastGone() throws -> DID? {
        let key: String? = try db.value(
            "SELECT account FROM account_moves WHERE state = 'gone' ORDER BY moved_at DESC, account LIMIT 1"
        )
        return try key.map(db.account)
    }

    /// - Parameter text: The exported text; `nil` for an account that came.
    func note(_ bundle: AccountBundle, text: String?, now: Timestamp) throws {
        let key = db.key(bundle.account)
        let stored = try text.map { try db.sealed(Array($0.utf8), .movedBundle, of: key, row: key) }
        try db.run(
            """
            INSERT INTO account_moves (account, number, move_id, state, bundle, moved_at) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (account) DO UPDATE SET number = excluded.number, move_id = excluded.move_id,
                state = excluded.state, bundle = excluded.bundle, moved_at = excluded.moved_at
            """,
            [key, bundle.number, bundle.moveID, text == nil ? "here" : "gone", stored, now.milliseconds]
        )
    }

    /// The exported text of an account that is gone.
    ///
    /// - Parameter key: The stored form of the account.
    func handedOut(of key: String) throws -> String? {
        let stored: Data? = try db.value("SELECT bundle FROM account_moves WHERE account = ?", [key])
        return try stored.map { String(decoding: try db.opened($0, .movedBundle, row: key), as: UTF8.self) }
    }

    /// Destroys the secrets of revoked keys in what was handed out, which is handed out again if a move is repeated.
    ///
    /// - Parameter key: The stored form of the account.
    func revoke(_ kids: Set<String>, of key: String, now: Timestamp) throws {
        // In a text that does not open, no secret does.
        let text = try ifReadable { try handedOut(of: key) } ?? nil
        guard let text, let bundle = AccountBundle(kept: text)?.revoking(kids, now: now) else { return }
        try db.run(
            "UPDATE account_moves SET bundle = ? WHERE account = ?",
            [try db.sealed(Array(bundle.text.utf8), .movedBundle, of: key, row: key), key]
        )
    }

    // MARK: - Reading

    /// All that moves of an account. A value that does not open stays behind, and no other.
    func bundle(of account: DID, move: (id: String, number: Int), isPaused: Bool) throws -> AccountBundle {
        let key = db.key(account)
        let server: String? = try db.value("SELECT apiServer FROM settings WHERE accountDid = ?", [key])
        guard let server else { throw StoreError.damaged }
        var lost: [String: Int] = [:]
        let tables = try MovedTable.all.compactMap { try rows(of: $0, key, &lost) }
        return AccountBundle(
            of: account,
            move: move,
            server: server,
            isPaused: isPaused,
            lost: lost,
            tables: tables
        )
    }

    /// - Parameter lost: Counts the values that do not open, by column.
    private func rows(
        of table: MovedTable,
        _ key: String,
        _ lost: inout [String: Int]
    ) throws -> AccountBundle.Table? {
        // An encrypted database has only hashes of it, which are of no use elsewhere.
        if table.lookup != nil, table.original == nil, db.vault.isSealed { return nil }
        let columns = try self.columns(of: table)
        let sealed = db.vault.isSealed ? SealedTable.all.first { $0.name == table.name } : nil
        let rows: [[SQLValue]?] = try db.all(
            "SELECT *\(sealed.map { ", \($0.row) AS sealed_place" } ?? "") FROM \(table.name) WHERE \(table.rows) ORDER BY 1",
            [key]
        ) { row in
            var values: [String: SQLValue] = [:]
            for column in columns { values[column] = try row[column] as SQLValue }
            if let sealed {
                guard try open(&values, of: sealed, place: try row["sealed_place"], key, &lost) else { return nil }
            }
            if let account = table.account { values[account] = .null }
            if let original = table.original, let lookup = table.lookup {
                if db.vault.isSealed { values[lookup.column] = values[original] }
                values[original] = .null
            }
            if table.name == "deliveries" { values["leased_until"] = .null }
            return columns.map { values[$0] ?? .null }
        }
        let left = rows.compactMap { $0 }
        return left.isEmpty ? nil : AccountBundle.Table(name: table.name, columns: columns, rows: left)
    }

    /// Gives a row its clear values. What does not open has the effect that it has here: a change becomes a dead letter,
    /// and an open notification is made anew.
    ///
    /// - Returns: `false` if nothing is left of the row.
    private func open(
        _ values: inout [String: SQLValue],
        of table: SealedTable,
        place: String,
        _ key: String,
        _ lost: inout [String: Int]
    ) throws -> Bool {
        let stored = table.columns.map { values[$0.name] ?? .null }
        let row = SealedRow(key: [], place: place, account: key, values: stored)
        guard let (clear, damaged) = try SealedRows(db: db).clearValues(of: row, table, &lost) else { return false }
        for (column, value) in zip(table.columns, clear) { values[column.name] = value }
        let state = values["state"]
        if !damaged.isDisjoint(with: SealedColumn.ofChange),
            OutboxRows.announceable.contains(where: { state == .text($0.rawValue) })
        {
            values["reason"] = .text(RowReason.unreadable.rawValue)
        }
        // Without a payload it does not open there either.
        if !damaged.isDisjoint(with: [.notificationTitle, .notificationBody]), state == .text("open") {
            values[SealedColumn.notificationPayload.name] = .blob(Data())
        }
        return true
    }

    private func columns(of table: MovedTable) throws -> [String] {
        try db.rows("SELECT * FROM \(table.name) LIMIT 0").names
    }

    // MARK: - Writing

    /// Stores all rows of a bundle, of an account of which nothing is stored.
    ///
    /// - Throws: ``UnusableValue`` for rows of another form.
    func insert(_ bundle: AccountBundle, into destination: AccountDestination) throws {
        let key = db.key(bundle.account)
        // Never stored in clear form.
        let takesAddresses = destination.pseudonym != nil && db.vault.isSealed
        var ids: [String: [Int64: Int64]] = [:]
        guard bundle.tables.allSatisfy({ table in MovedTable.all.contains { $0.name == table.name } }) else {
            throw UnusableValue()
        }
        for table in MovedTable.all {
            guard let given = bundle.table(table.name), takesAddresses || table.name != MovedTable.addresses else {
                continue
            }
            let columns = given.columns
            // The names become part of a statement.
            guard Set(columns) == Set(try self.columns(of: table)), columns.count == Set(columns).count else {
                throw UnusableValue()
            }
            for row in given.rows {
                guard row.count == columns.count else { throw UnusableValue() }
                var values = Dictionary(uniqueKeysWithValues: zip(columns, row))
                let id = table.isNumbered ? values.removeValue(forKey: "id") : nil
                // These are any numbers.
                let free: Set = ["fingerprint", "rank"]
                guard values.allSatisfy({ free.contains($0.key) || !$0.value.isOutOfRange }) else {
                    throw UnusableValue()
                }
                if ["feed", "notifications"].contains(table.name) {
                    try Self.rename(&values, as: destination.pseudonym)
                }
                if table.name == MovedTable.feeds, !takesAddresses || !StoreFeed.isToken(values["token"]?.text) {
                    values["token"] = .null
                }
                try adapt(&values, of: table, key, ids)
                if table.name == "feature_notices", try !isIntroduced(values["feature"]) { continue }
                if table.name == MovedTable.addresses, !destination.addressed.contains(values["sink"]?.text ?? "") {
                    continue
                }
                let new = try insert(values, into: table)
                if case .integer(let id)? = id, let new { ids[table.name, default: [:]][id] = new }
            }
        }
    }

    /// Gives a notification that is open or in the feed the account's name here. That of the source can be missing, or somebody
    /// else's.
    private static func rename(_ values: inout [String: SQLValue], as pseudonym: String?) throws {
        guard values["state"] ?? .text("open") == .text("open"), case .blob(let payload)? = values["payload"] else {
            return
        }
        // Made anew in any case: of what else stands in it, nothing is known.
        // A digest first, because it can be read as a notification without what is its own.
        if var message = try? JSONDecoder().decode(DigestMessage.self, from: payload) {
            message.account = pseudonym
            values["payload"] = .blob(Data(message.json()))
        } else if var message = try? JSONDecoder().decode(NotificationMessage.self, from: payload) {
            message.account = pseudonym
            values["payload"] = .blob(Data(OutgoingNotification(message).payload))
        } else {
            let other = JSONTree(json: Array(payload))
            if other?["account"] != nil || other?["account_did"] != nil { throw UnusableValue() }
        }
    }

    /// Gives a row the account, the ids and the sealed values of this database.
    private func adapt(
        _ values: inout [String: SQLValue],
        of table: MovedTable,
        _ key: String,
        _ ids: [String: [Int64: Int64]]
    ) throws {
        if let account = table.account { values[account] = .text(key) }
        for (column, target) in table.references {
            values[column] = try Self.adapted(values[column] ?? .null, ids[target] ?? [:])
        }
        guard db.vault.isSealed else { return }
        if let lookup = table.lookup, case .text(let text)? = values[lookup.column] {
            if let original = table.original { values[original] = .text(text) }
            values[lookup.column] = .text(db.vault.lookup(text, as: lookup.kind))
        }
        guard let sealed = SealedTable.all.first(where: { $0.name == table.name }) else { return }
        let row = SealedRow(key: [], place: try place(of: values, in: sealed), account: key, values: [])
        for column in sealed.columns {
            values[column.name] = try SealedRows(db: db).sealedForm(values[column.name] ?? .null, column, of: row)
        }
    }

    /// The new id, or a JSON list of them. One that is gone becomes null, and leaves a list.
    private static func adapted(_ value: SQLValue, _ ids: [Int64: Int64]) throws -> SQLValue {
        switch value {
        case .integer(let id): return ids[id].map { .integer($0) } ?? .null
        case .text(let list):
            guard let old = try? JSONDecoder().decode([Int64].self, from: Data(list.utf8)) else {
                throw UnusableValue()
            }
            return .text(jsonArray(old.compactMap { ids[$0] }))
        default: return .null
        }
    }

    /// The text that binds sealed values to their row.
    private func place(of values: [String: SQLValue], in table: SealedTable) throws -> String {
        let names = values.keys.sorted()
        let columns = names.map { "? AS \($0)" }.joined(separator: ", ")
        let place: String? = try db.value(
            "SELECT \(table.row) FROM (SELECT \(columns))",
            SQLArguments(names.map { values[$0] ?? .null })
        )
        guard let place else { throw UnusableValue() }
        return place
    }

    private func isIntroduced(_ feature: SQLValue?) throws -> Bool {
        try db.integer("SELECT count(*) FROM feature_introductions WHERE feature = ?", [feature ?? .null]) == 1
    }

    /// - Returns: The id of a numbered row.
    private func insert(_ values: [String: SQLValue], into table: MovedTable) throws -> Int64? {
        let names = values.keys.sorted()
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        let statement = "INSERT INTO \(table.name) (\(names.joined(separator: ", "))) VALUES (\(marks))"
        let arguments = SQLArguments(names.map { values[$0] ?? .null })
        guard table.isNumbered else {
            try db.run(statement, arguments)
            return nil
        }
        return try db.inserted(statement + " RETURNING id", arguments)
    }
}
