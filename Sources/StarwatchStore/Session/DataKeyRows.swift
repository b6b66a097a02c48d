import Crypto
import FoundationEssentials
import StarwatchCore

/// The keys that encrypt values, the accounts that they belong to, and the keys that sign tokens.
struct DataKeyRows {
    let db: Session

    /// Stores the account's DID and its data key, if the database is encrypted and does not know it. Must precede the
    /// first row from which the DID is read.
    func enrol(_ account: DID) throws {
        let key = db.key(account)
        guard db.vault.isSealed, try self.account(key) == nil else { return }
        try db.run(
            """
            INSERT INTO sealed_accounts (account, did) VALUES (?, ?)
            ON CONFLICT (account) DO UPDATE SET did = excluded.did
            """,
            [key, try db.sealed(account.rawValue, .did, of: key, row: key)]
        )
        db.vault.ring?.accounts[key] = account
    }

    /// Stores a known account's DID again if the stored one does not open.
    func restore(_ account: DID?) throws {
        guard let account, db.vault.isSealed, try self.account(db.key(account)) == nil else { return }
        let isKnown = try db.integer("SELECT count(*) FROM sealed_accounts WHERE account = ?", [db.key(account)]) == 1
        if isKnown { try enrol(account) }
    }

    func seal(_ bytes: [UInt8], _ column: SealedColumn, of account: String?, row: String) throws -> SealedValue {
        var id = try active(of: account)
        if let known = id { id = try reserve(known) }
        let active = try id ?? db.vault.addDataKey(of: account, db)
        if id == nil { _ = try reserve(active) }
        guard let key = try key(active)?.key else { throw StoreError.sealed(.damaged) }
        return try SealedValue.seal(bytes, with: key, id: active, column, row: row)
    }

    func open(_ value: SealedValue, _ column: SealedColumn, row: String) throws -> Data {
        guard let key = try key(value.key)?.key else { throw StoreError.sealed(.damaged) }
        return try value.open(with: key, column, row: row)
    }

    // MARK: - Reading

    /// A data key; `nil` if there is none or it is damaged.
    func key(_ id: Int64) throws -> Vault.DataKey? {
        if let known = db.vault.ring?.keys[id] { return known }
        _ = try db.vault.readKeys(db, "id = ?", [id])
        return db.vault.ring?.keys[id]
    }

    /// The active key of an account, or of no account; `nil` if there is none that opens.
    func active(of account: String?) throws -> Int64? {
        if let known = db.vault.ring?.active[account] { return known }
        let condition = account == nil ? "account IS NULL AND ?1 IS NULL" : "account = ?1"
        let found = try db.vault.readKeys(db, "state = 'active' AND \(condition)", [account]).last
        if let found { db.vault.ring?.active[account] = found }
        return found
    }

    /// The identity of a stored form; `nil` if it is not stored or does not open.
    func account(_ form: String) throws -> DID? {
        if let known = db.vault.ring?.accounts[form] { return known }
        let stored: String? = try db.value("SELECT did FROM sealed_accounts WHERE account = ?", [form])
        guard let sealed = stored.flatMap({ SealedValue(text: $0) }),
            let text = try ifReadable({ try open(sealed, .did, row: form) })
        else { return nil }
        db.vault.ring?.trim()
        let account = DID(String(decoding: text, as: UTF8.self))
        db.vault.ring?.accounts[form] = account
        // The value is bound to the form, so it need not be computed.
        if let account { db.vault.keep(form, of: account) }
        return account
    }

    // MARK: - Uses

    /// The largest number of values sealed with one key: a random nonce must never repeat under it.
    static let largestUse = 1 << 31
    /// The uses that are counted at once. The stored number is therefore never too low, also after a crash.
    ///
    /// An account that is served for a moment at a time takes as many each time, and its key has ``largestUse`` of them.
    private static let reservation = 1024

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
        guard let former = try key(id) else { throw StoreError.sealed(.damaged) }
        try db.run("UPDATE data_keys SET state = 'retiring' WHERE id = ?", [id])
        db.vault.ring?.keys[id] = Vault.DataKey(key: former.key, account: former.account, isActive: false)
        db.vault.ring?.retiring.insert(id)
        return try db.vault.addDataKey(of: former.account, db)
    }
}
