import FoundationEssentials
import StarwatchCore

/// Encrypting and decrypting an existing database. No agent may use it meanwhile, which the lock ensures.
extension StoreKeys {
    /// Encrypts the database in one transaction, and then rewrites the file.
    ///
    /// A process that is killed leaves the former database, or an encrypted one whose file is rewritten when it is next
    /// opened. It needs free space of twice the database's size.
    ///
    /// - Returns: The number of rows with encrypted values.
    package func encrypt(with master: MasterKey) async throws(StoreError) -> Int {
        try await store.perform { store throws(StoreError) in
            let rows = try store.write(.edit) { db in
                let rows = SealedRows(db: db)
                let installation: Data? = try db.value("SELECT installation_key FROM installation")
                guard let installation else { throw StoreError.damaged }
                try db.vault.create(db, master, installation: installation)
                try db.run("UPDATE installation SET installation_key = zeroblob(32)")
                try rows.replaceAccounts { text in
                    guard let did = DID(text) else { throw StoreError.damaged }
                    try db.dataKeys.enrol(did)
                    return db.key(did)
                }
                try db.run("UPDATE plan_snapshots SET sealed_plan_id = plan_id")
                try rows.replace("plan_id", in: "plan_snapshots") { db.vault.lookup($0, as: "plan") }
                try rows.replace("token", in: "shortlinks") { db.vault.lookup($0, as: "shortlink") }
                let count = try rows.rewrite { table, row in
                    try zip(row.values, table.columns).map { try rows.sealedForm($0, $1, of: row) }
                }
                try db.run("UPDATE sealing SET state = 'cleaning'")
                return count
            }
            let kept = UpgradeCopy(path: store.options.path).removeAll()
            do { try Sealing.clean(store.database) } catch { throw StoreError(error) }
            if let kept { throw StoreError.copyRemains(name: kept) }
            return rows
        }
    }

    /// Decrypts the database in one transaction and destroys its keys.
    ///
    /// Shortlinks and the addresses of feeds are deleted, because only keyed hashes find them. Signing keys, addresses of sinks and exported accounts are
    /// never stored in clear form. A value that does not open is lost, and no other.
    ///
    /// - Parameter isForced: Whether to destroy these. Without it, a database that has any is refused.
    /// - Returns: The number of rows with values that were encrypted, and that of values that did not open and are lost, by
    ///   `table.column`.
    package func decrypt(isForced: Bool = false) async throws(StoreError) -> (rows: Int, lost: [String: Int]) {
        try await store.perform { store throws(StoreError) in
            guard store.context.vault.isSealed else { throw .sealed(.notEncrypted) }
            let result = try store.write(.edit) { db in
                let rows = SealedRows(db: db)
                let keys = try db.integer("SELECT count(*) FROM signing_keys WHERE state <> 'revoked'")
                guard keys == 0 || isForced else { throw StoreError.sealed(.signingKeys) }
                let addresses = try db.integer("SELECT count(*) FROM account_sinks")
                guard addresses == 0 || isForced else { throw StoreError.sealed(.sinkAddresses) }
                let bundles = try db.integer("SELECT count(*) FROM account_moves WHERE bundle IS NOT NULL")
                guard bundles == 0 || isForced else { throw StoreError.sealed(.exportedAccounts) }
                try db.run("DELETE FROM account_sinks")
                try db.run("UPDATE account_moves SET bundle = NULL")
                try db.run("DELETE FROM shortlinks")
                try db.run("UPDATE feeds SET token = NULL, sealed_token = NULL")
                try db.run("DELETE FROM signing_keys WHERE state <> 'revoked'")
                try db.run("UPDATE installation SET installation_key = ?", [db.vault.installation])
                try db.notifications.setAsideAll(store.options.now())
                var result: (rows: Int, lost: [String: Int]) = (0, [:])
                // Before the accounts are replaced, because their stored forms select the keys.
                result.rows = try rows.rewrite { table, row in try rows.decrypted(row, table, &result.lost) }
                try db.run("UPDATE plan_snapshots SET plan_id = sealed_plan_id, sealed_plan_id = NULL")
                var nobodys: Set<String> = []
                try rows.replaceAccounts { form in
                    if let account = try ifReadable({ try db.account(form) }) { return account.rawValue }
                    nobodys.insert(form)
                    return Unreadable.account(form)
                }
                if !nobodys.isEmpty { result.lost[SealedColumn.did.rawValue] = nobodys.count }
                // Nobody can be signed in with an identity that is lost, and it cannot be served.
                try db.run(
                    "UPDATE active_identity SET activeDid = NULL, generation = generation + 1 WHERE activeDid IN (SELECT value FROM json_each(?))",
                    [jsonArray(nobodys.map(Unreadable.account))]
                )
                try db.run(
                    "DELETE FROM accounts WHERE account IN (SELECT value FROM json_each(?))",
                    [jsonArray(nobodys.map(Unreadable.account))]
                )
                try db.vault.destroy(db)
                return result
            }
            _ = try StoreStatus.emptyLog(of: store)
            return result
        }
    }
}

/// The stored forms of all values.
extension SealedRows {
    /// Replaces the accounts in every table.
    func replaceAccounts(_ form: (String) throws -> String) throws {
        // `active_identity` and `accounts` refer to `settings`.
        try db.execute("PRAGMA defer_foreign_keys = ON")
        for (table, column) in SealedTable.accounts { try replace(column, in: table, form) }
    }

    /// Replaces every text of a column.
    func replace(_ column: String, in table: String, _ form: (String) throws -> String) throws {
        let texts: [String] = try db.values("SELECT DISTINCT \(column) FROM \(table) WHERE \(column) IS NOT NULL")
        for text in texts {
            try db.run("UPDATE \(table) SET \(column) = ? WHERE \(column) = ?", [try form(text), text])
        }
    }

    /// Writes another form of every value that can be sealed.
    ///
    /// - Parameter form: Returns the new values of a row; `nil` deletes it.
    /// - Returns: The number of rows.
    func rewrite(_ form: (SealedTable, SealedRow) throws -> [SQLValue]?) throws -> Int {
        var count = 0
        // The accounts are sealed when they are enrolled.
        for table in SealedTable.all where table.columns != [.did] {
            var last: [SQLValue]?
            while true {
                let rows = try next(table, after: last, limit: 500)
                for row in rows {
                    if let values = try form(table, row) {
                        try write(values, into: row, of: table)
                    } else {
                        try delete(row, of: table)
                    }
                }
                count += rows.count
                guard rows.count == 500 else { break }
                last = rows.last?.key
            }
        }
        return count
    }

    /// The clear values of a row, as ``SealedRows/clearValues(of:_:_:)``. Marks what a later step must know of the lost ones.
    func decrypted(_ row: SealedRow, _ table: SealedTable, _ lost: inout [String: Int]) throws -> [SQLValue]? {
        guard let (values, damaged) = try clearValues(of: row, table, &lost) else { return nil }
        if !damaged.isDisjoint(with: SealedColumn.ofChange) {
            // The next claim sets it aside.
            try db.run(
                """
                UPDATE notification_outbox SET reason = ?
                WHERE id = ? AND state IN (SELECT value FROM json_each(?))
                """,
                [
                    RowReason.unreadable.rawValue, row.key[0],
                    jsonArray(OutboxRows.announceable.map(\.rawValue)),
                ]
            )
        }
        guard !damaged.isDisjoint(with: [.digestTitle, .digestBody, .digestPayload]) else { return values }
        try db.run(
            "UPDATE notif_deliveries SET text_kind = NULL, content_at = NULL, fingerprint = NULL WHERE id = ?",
            [row.key[0]]
        )
        return values.map { _ in .null }
    }
}
