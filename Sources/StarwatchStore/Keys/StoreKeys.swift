import FoundationEssentials
import StarwatchCore

/// The encryption of the database, and the keys that sign tokens.
package struct StoreKeys: Sendable {
    let store: Store

    /// Whether the database is encrypted.
    package var isEncrypted: Bool { get async { await store.perform { store in store.context.vault.isSealed } } }

    /// The id of the master key; `nil` if the database is not encrypted.
    package var masterKeyID: String? {
        get async {
            await store.perform { store in store.context.vault.isSealed ? store.context.vault.master?.id : nil }
        }
    }

    /// The progress of encrypting values again, from 0 to 1; `nil` if no data key is retiring, except those of values that
    /// do not open.
    package var resealProgress: Double? {
        get async {
            await store.perform { store in
                store.context.mustReseal ? store.context.resealPass?.progress ?? 0 : nil
            }
        }
    }

    /// The keys of the database.
    package func report() async throws(StoreError) -> KeyReport {
        try await store.direct(.read) { db in
            var report = KeyReport()
            guard let row = try db.row("SELECT master_key, changed_at FROM sealing") else { return report }
            (report.masterKey, report.masterKeySince) = (try row["master_key"], try row["changed_at"])
            report.dataKeys = try db.all(
                "SELECT id, account, state, uses, created_at FROM data_keys WHERE purpose = 'data' ORDER BY id"
            ) { row in
                KeyReport.DataKey(
                    id: try row["id"],
                    account: (try row["account"] as String?).flatMap { try? db.account($0) },
                    isActive: try row["state"] == "active",
                    uses: try row["uses"],
                    createdAt: try row["created_at"]
                )
            }
            report.signingKeys = try db.dataKeys.signingKeys()
            return report
        }
    }

    /// Wraps the data keys with another master key, in one transaction. No value is encrypted again.
    package func changeMasterKey(to new: MasterKey) async throws(StoreError) {
        try await store.perform { store throws(StoreError) in
            guard store.context.vault.isSealed else { throw .sealed(.notEncrypted) }
            // The former key is destroyed next, so the change must survive a power loss even if the log cannot be emptied.
            try store.write(.edit, isDurable: true) { db in try db.vault.rewrap(with: new, db) }
        }
    }

    /// Replaces every data key. ``reseal(limit:)`` then encrypts the stored values again.
    ///
    /// - Returns: The number of replaced keys.
    package func replaceDataKeys() async throws(StoreError) -> Int {
        try await store.perform { store throws(StoreError) in
            guard store.context.vault.isSealed else { throw .sealed(.notEncrypted) }
            return try store.write(.edit) { db in
                let active: [Int64] = try db.values(
                    "SELECT id FROM data_keys WHERE purpose = 'data' AND state = 'active' ORDER BY id"
                )
                // A damaged key seals nothing any more.
                let sound = try active.filter { try db.dataKeys.key($0) != nil }
                for id in sound { _ = try db.dataKeys.replace(id) }
                return sound.count
            }
        }
    }

    /// Encrypts the next values of retiring keys again, in one transaction, and destroys the keys after the last one.
    ///
    /// After a restart the pass begins anew; values that were done are only looked at.
    ///
    /// - Parameter limit: The largest number of rows to look at.
    package func reseal(limit: Int = 500) async throws(StoreError) -> Resealing {
        try await store.perform { store throws(StoreError) in
            guard store.context.mustReseal else { return Resealing() }
            let (pass, rows): (ResealPass, Int) = try store.write(.retention) { db in
                let keys = db.dataKeys
                var pass = try db.context.resealPass ?? keys.beginReseal()
                let table = SealedTable.all[pass.table]
                let rows = try SealedRows(db: db).next(table, after: pass.last, limit: limit)
                for row in rows { pass.stuck.formUnion(try keys.reseal(row, of: table, from: pass.retiring)) }
                pass.done += rows.count
                pass.last = rows.last?.key
                if rows.count < limit {
                    pass.table += 1
                    pass.last = nil
                }
                guard pass.isDone else { return (pass, rows.count) }
                for id in pass.retiring.subtracting(pass.stuck) { try keys.destroyDataKey(id) }
                return (pass, rows.count)
            }
            store.context.resealPass = pass.isDone ? nil : pass
            guard pass.isDone else { return Resealing(rows: rows, progress: pass.progress) }
            store.context.stuckKeys.formUnion(pass.stuck)
            _ = try StoreStatus.emptyLog(of: store)
            return Resealing(rows: rows, progress: 1)
        }
    }

    /// Opens every encrypted value. Other work runs between its transactions.
    package func verify() async throws(StoreError) -> SealReport {
        var report = try await verifyAccounts()
        for table in SealedTable.all {
            var last: [SQLValue]?
            repeat {
                let step = try await verify(table, after: last)
                report.opened += step.report.opened
                for fault in step.report.faults { report.add(fault) }
                last = step.last
            } while last != nil
        }
        return report
    }

    /// Opens the keys, and finds the identity of every account.
    private func verifyAccounts() async throws(StoreError) -> SealReport {
        try await store.perform { store throws(StoreError) in
            guard store.context.vault.isSealed else { throw .sealed(.notEncrypted) }
            return try store.direct(.read) { db in
                var report = SealReport()
                let keys: [Int64] = try db.values("SELECT id FROM data_keys WHERE purpose = 'data'")
                for id in keys where try db.dataKeys.key(id) == nil {
                    report.add((column: "data_keys.wrapped", row: String(id)))
                }
                for (table, column) in SealedTable.accounts {
                    let forms: [String] = try db.values(
                        "SELECT DISTINCT \(column) FROM \(table) WHERE \(column) IS NOT NULL"
                    )
                    for form in forms where try db.dataKeys.account(form).map(db.key) != form {
                        report.add((column: "\(table).\(column)", row: form))
                    }
                }
                return report
            }
        }
    }

    private func verify(
        _ table: SealedTable,
        after key: [SQLValue]?
    ) async throws(StoreError) -> (report: SealReport, last: [SQLValue]?) {
        try await store.perform { store throws(StoreError) in
            guard store.context.vault.isSealed else { throw .sealed(.notEncrypted) }
            return try store.direct(.read) { db in
                var report = SealReport()
                // At most a hundred rows, so that the report of a step holds all of its faults.
                let rows = try SealedRows(db: db).next(table, after: key, limit: 30)
                for row in rows {
                    for (value, column) in zip(row.values, table.columns) where !value.isNull {
                        if (try? SealedRows(db: db).clearForm(value, column, of: row)) != nil {
                            report.opened += 1
                        } else {
                            let place = row.key.map(\.text).joined(separator: " ")
                            report.add((column: column.rawValue, row: place))
                        }
                    }
                }
                return (report, rows.count == 30 ? rows.last?.key : nil)
            }
        }
    }
}

extension DataKeyRows {
    func beginReseal() throws -> ResealPass {
        let total = try SealedTable.all.reduce(0) { try $0 + db.integer("SELECT count(*) FROM \($1.name)") }
        return ResealPass(retiring: db.vault.ring?.retiring ?? [], total: total)
    }

    /// Encrypts the values of a row again whose keys are in `retiring`. A damaged value stays as it is.
    ///
    /// - Returns: The keys of damaged values.
    func reseal(_ row: SealedRow, of table: SealedTable, from retiring: Set<Int64>) throws -> Set<Int64> {
        var values = row.values
        var damaged: Set<Int64> = []
        var isChanged = false
        for (index, column) in table.columns.enumerated() {
            guard let sealed = SealedValue(values[index]) else {
                // A former version left it clear.
                guard column.wasClear, !values[index].isNull else { continue }
                values[index] = try SealedRows(db: db).sealedForm(values[index], column, of: row)
                isChanged = true
                continue
            }
            guard retiring.contains(sealed.key) else { continue }
            guard let clear = try? SealedRows(db: db).clearForm(values[index], column, of: row) else {
                damaged.insert(sealed.key)
                continue
            }
            values[index] = try SealedRows(db: db).sealedForm(clear, column, of: row)
            isChanged = true
        }
        if isChanged { try SealedRows(db: db).write(values, into: row, of: table) }
        return damaged
    }

    func destroyDataKey(_ id: Int64) throws {
        try db.run("DELETE FROM data_keys WHERE id = ?", [id])
        db.vault.ring?.keys[id] = nil
        db.vault.ring?.retiring.remove(id)
    }

    /// Destroys the keys of an account and forgets its DID. Its values cannot be opened any more.
    ///
    /// - Parameter account: The stored form.
    func forget(_ account: String) throws {
        guard db.vault.isSealed else { return }
        let keys: [Int64] = try db.values("SELECT id FROM data_keys WHERE account = ?", [account])
        for id in keys { try destroyDataKey(id) }
        db.vault.ring?.active[account] = nil
        db.vault.ring?.accounts[account] = nil
        try db.run("DELETE FROM sealed_accounts WHERE account = ?", [account])
    }
}
