import FoundationEssentials
import StarwatchCore

extension Store {
    /// Whether the database is encrypted.
    package var isEncrypted: Bool { vault.isSealed }

    /// The id of the master key; `nil` if the database is not encrypted.
    package var masterKeyID: String? { vault.isSealed ? vault.master?.id : nil }

    /// The progress of encrypting values again, from 0 to 1; `nil` if no data key is retiring, except those of values that
    /// do not open.
    package var resealProgress: Double? {
        guard vault.ring?.keys.contains(where: { !$0.value.isActive && !stuckKeys.contains($0.key) }) == true else {
            return nil
        }
        return resealPass?.progress ?? 0
    }

    /// The keys of the database.
    package func keyReport() throws(StoreError) -> KeyReport {
        try direct(.read) { db in
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
            report.signingKeys = try db.signingKeyEntries()
            return report
        }
    }

    /// Wraps the data keys with another master key, in one transaction. No value is encrypted again.
    package func changeMasterKey(to new: MasterKey) throws(StoreError) {
        guard vault.isSealed else { throw .sealed(.notEncrypted) }
        // The former key is destroyed next, so the change must survive a power loss even if the log cannot be emptied.
        try direct(.edit) { db in try db.execute("PRAGMA synchronous = FULL") }
        defer { try? direct(.edit) { db in try db.execute("PRAGMA synchronous = NORMAL") } }
        try write(.edit) { db in try vault.rewrap(with: new, db) }
    }

    /// Replaces every data key. ``reseal(limit:)`` then encrypts the stored values again.
    ///
    /// - Returns: The number of replaced keys.
    package func replaceDataKeys() throws(StoreError) -> Int {
        guard vault.isSealed else { throw .sealed(.notEncrypted) }
        return try write(.edit) { db in
            let active = vault.ring.map { Array($0.active.values) } ?? []
            for id in active.sorted() { _ = try db.replaceDataKey(id) }
            return active.count
        }
    }

    /// Encrypts the next values of retiring keys again, in one transaction, and destroys the keys after the last one.
    ///
    /// After a restart the pass begins anew; values that were done are only looked at.
    ///
    /// - Parameter limit: The largest number of rows to look at.
    package func reseal(limit: Int = 500) throws(StoreError) -> Resealing {
        guard let ring = vault.ring, ring.keys.contains(where: { !$0.value.isActive && !stuckKeys.contains($0.key) })
        else {
            return Resealing()
        }
        let step: (pass: ResealPass?, rows: Int) = try write(.retention) { db in
            var pass = try resealPass ?? db.beginReseal()
            let table = SealedTable.all[pass.table]
            let rows = try db.sealedRows(table, after: pass.last, limit: limit)
            for row in rows { pass.stuck.formUnion(try db.reseal(row, of: table, from: pass.retiring)) }
            pass.done += rows.count
            pass.last = rows.last?.key
            if rows.count < limit {
                pass.table += 1
                pass.last = nil
            }
            guard pass.table == SealedTable.all.count else { return (pass, rows.count) }
            for id in pass.retiring.subtracting(pass.stuck) { try db.destroyDataKey(id) }
            stuckKeys.formUnion(pass.stuck)
            return (nil, rows.count)
        }
        resealPass = step.pass
        if step.pass == nil { try checkpoint() }
        return Resealing(rows: step.rows, progress: step.pass?.progress ?? 1)
    }

    /// Opens every encrypted value. Other work runs between its transactions.
    package nonisolated func verifyEncryption() async throws(StoreError) -> SealReport {
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
    private func verifyAccounts() throws(StoreError) -> SealReport {
        guard let ring = vault.ring else { throw .sealed(.notEncrypted) }
        return try direct(.read) { db in
            var report = SealReport()
            let keys: [Int64] = try db.values("SELECT id FROM data_keys WHERE purpose = 'data'")
            for id in keys where ring.keys[id] == nil {
                report.add(SealReport.Fault(column: "data_keys.wrapped", row: String(id)))
            }
            for (table, column) in SealedTable.accounts {
                let forms: [String] = try db.values(
                    "SELECT DISTINCT \(column) FROM \(table) WHERE \(column) IS NOT NULL"
                )
                for form in forms where ring.accounts[form].map(db.key) != form {
                    report.add(SealReport.Fault(column: "\(table).\(column)", row: form))
                }
            }
            return report
        }
    }

    private func verify(
        _ table: SealedTable,
        after key: [SQLValue]?
    ) throws(StoreError) -> (report: SealReport, last: [SQLValue]?) {
        guard vault.isSealed else { throw .sealed(.notEncrypted) }
        return try direct(.read) { db in
            var report = SealReport()
            // At most a hundred rows, so that the report of a step holds all of its faults.
            let rows = try db.sealedRows(table, after: key, limit: 30)
            for row in rows {
                for (value, column) in zip(row.values, table.columns) where !value.isNull {
                    if (try? db.clearForm(value, column, of: row)) != nil {
                        report.opened += 1
                    } else {
                        let place = row.key.map(\.text).joined(separator: " ")
                        report.add(SealReport.Fault(column: column.rawValue, row: place))
                    }
                }
            }
            return (report, rows.count == 30 ? rows.last?.key : nil)
        }
    }
}

extension Session {
    fileprivate func beginReseal() throws -> ResealPass {
        let retiring = (vault.ring?.keys ?? [:]).filter { !$0.value.isActive }.keys
        let total = try SealedTable.all.reduce(0) { try $0 + integer("SELECT count(*) FROM \($1.name)") }
        return ResealPass(retiring: Set(retiring), total: total)
    }

    /// Encrypts the values of a row again whose keys are in `retiring`. A damaged value stays as it is.
    ///
    /// - Returns: The keys of damaged values.
    fileprivate func reseal(_ row: SealedRow, of table: SealedTable, from retiring: Set<Int64>) throws -> Set<Int64> {
        var values = row.values
        var damaged: Set<Int64> = []
        var isChanged = false
        for (index, column) in table.columns.enumerated() {
            guard let sealed = SealedValue(values[index]), retiring.contains(sealed.key) else { continue }
            guard let clear = try? clearForm(values[index], column, of: row) else {
                damaged.insert(sealed.key)
                continue
            }
            values[index] = try sealedForm(clear, column, of: row)
            isChanged = true
        }
        if isChanged { try write(values, into: row, of: table) }
        return damaged
    }

    func destroyDataKey(_ id: Int64) throws {
        try run("DELETE FROM data_keys WHERE id = ?", [id])
        vault.ring?.keys[id] = nil
    }

    /// Destroys the keys of an account and forgets its DID. Its values cannot be opened any more.
    ///
    /// - Parameter account: The stored form.
    func forget(_ account: String) throws {
        guard let ring = vault.ring else { return }
        for (id, key) in ring.keys where key.account == account { try destroyDataKey(id) }
        vault.ring?.active[account] = nil
        vault.ring?.accounts[account] = nil
        try run("DELETE FROM sealed_accounts WHERE account = ?", [account])
    }
}
