import Crypto
import FoundationEssentials
import StarwatchCore

/// The keys that encrypt values, and the accounts that they belong to.
struct DataKeyRows {
    let db: Session

    /// Stores the account's DID and its data key, if the database is encrypted and does not know it. Must precede the
    /// first row from which the DID is read.
    func enrol(_ account: DID) throws {
        guard let ring = db.vault.ring else { return }
        let key = db.key(account)
        guard ring.accounts[key] == nil else { return }
        try db.run(
            "INSERT INTO sealed_accounts (account, did) VALUES (?, ?) ON CONFLICT DO UPDATE SET did = excluded.did",
            [key, try db.sealed(account.rawValue, .did, of: key, row: key)]
        )
        db.vault.ring?.accounts[key] = account
    }

    /// Stores a known account's DID again if the stored one does not open.
    func restore(_ account: DID?) throws {
        guard let account, let ring = db.vault.ring, ring.accounts[db.key(account)] == nil else { return }
        let isKnown = try db.integer("SELECT count(*) FROM sealed_accounts WHERE account = ?", [db.key(account)]) == 1
        if isKnown { try enrol(account) }
    }

    func seal(_ bytes: [UInt8], _ column: SealedColumn, of account: String?, row: String) throws -> SealedValue {
        var id = db.vault.ring?.active[account]
        if let known = id { id = try reserve(known) }
        let active = try id ?? db.vault.addDataKey(of: account, db)
        if id == nil { _ = try reserve(active) }
        guard let key = db.vault.ring?.keys[active]?.key else { throw StoreError.sealed(.damaged) }
        return try SealedValue.seal(bytes, with: key, id: active, column, row: row)
    }

    func open(_ value: SealedValue, _ column: SealedColumn, row: String) throws -> Data {
        guard let key = db.vault.ring?.keys[value.key]?.key else { throw StoreError.sealed(.damaged) }
        return try value.open(with: key, column, row: row)
    }

    /// The largest number of values sealed with one key: a random nonce must never repeat under it.
    static let largestUse = 1 << 31
    /// The uses that are counted at once. The stored number is therefore never too low, also after a crash.
    private static let reservation = 65_536

    /// Counts one use of an active key. A key that was used too often is replaced, and its values are sealed again in the
    /// background.
    ///
    /// - Returns: The key to use.
    private func reserve(_ id: Int64) throws -> Int64 {
        if let left = db.vault.ring?.keys[id]?.reserved, left > 0 {
            db.vault.ring?.keys[id]?.reserved = left - 1
            return id
        }
        try db.run("UPDATE data_keys SET uses = uses + ? WHERE id = ?", [Self.reservation, id])
        let uses = try db.integer("SELECT uses FROM data_keys WHERE id = ?", [id])
        db.vault.ring?.keys[id]?.reserved = Self.reservation - 1
        guard uses >= Self.largestUse else { return id }
        return try replace(id)
    }

    /// Makes a new key the active one in place of `id`, whose values are sealed again later.
    func replace(_ id: Int64) throws -> Int64 {
        guard let former = db.vault.ring?.keys[id] else { throw StoreError.sealed(.damaged) }
        try db.run("UPDATE data_keys SET state = 'retiring' WHERE id = ?", [id])
        db.vault.ring?.keys[id] = Vault.DataKey(key: former.key, account: former.account, isActive: false)
        return try db.vault.addDataKey(of: former.account, db)
    }
}
