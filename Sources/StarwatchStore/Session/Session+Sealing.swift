import Crypto
import FoundationEssentials
import StarwatchCore

/// Sealing and opening of values. In a database that is not encrypted, values pass unchanged.
///
/// `row` is the text of ``SealedTable/row``.
extension Session {
    // MARK: - Accounts

    /// The account as it is stored.
    func key(_ account: DID) -> String { vault.form(of: account) }

    /// The account of a stored form.
    func account(_ key: String) throws -> DID {
        guard let ring = vault.ring else {
            guard let did = DID(key) else { throw StoreError.damaged }
            return did
        }
        guard let did = ring.accounts[key] else { throw StoreError.sealed(.damaged) }
        return did
    }

    /// Stores the account's DID and its data key, if the database is encrypted and does not know it. Must precede the
    /// first row from which the DID is read.
    func enrol(_ account: DID) throws {
        guard let ring = vault.ring else { return }
        let key = key(account)
        guard ring.accounts[key] == nil else { return }
        try run(
            "INSERT INTO sealed_accounts (account, did) VALUES (?, ?) ON CONFLICT DO UPDATE SET did = excluded.did",
            [key, try sealed(account.rawValue, .did, of: key, row: key)]
        )
        vault.ring?.accounts[key] = account
    }

    /// Stores a known account's DID again if the stored one does not open.
    func restore(_ account: DID?) throws {
        guard let account, let ring = vault.ring, ring.accounts[key(account)] == nil else { return }
        let isKnown = try integer("SELECT count(*) FROM sealed_accounts WHERE account = ?", [key(account)]) == 1
        if isKnown { try enrol(account) }
    }

    /// The stored form of a stream's account.
    func owner(of stream: Int64) throws -> String? { try value("SELECT account FROM streams WHERE id = ?", [stream]) }

    /// A keyed hash of a text, for exact lookup in an encrypted database.
    func lookup(_ text: String, as kind: String) -> String {
        vault.ring.map { Vault.form(of: text, as: kind, $0.lookup) } ?? text
    }

    // MARK: - Values

    /// The form in which a text is stored; `nil` for `nil`.
    ///
    /// - Parameter account: The stored form of the account that it belongs to; `nil` for none.
    func sealed(
        _ text: String?,
        _ column: SealedColumn,
        of account: @autoclosure () throws -> String?,
        row: @autoclosure () -> String
    ) throws -> String? {
        guard vault.isSealed, let text else { return text }
        return try seal(Array(text.utf8), column, account(), row()).text
    }

    /// The form in which bytes are stored.
    func sealed(
        _ bytes: [UInt8],
        _ column: SealedColumn,
        of account: @autoclosure () throws -> String?,
        row: @autoclosure () -> String
    ) throws -> Data {
        vault.isSealed ? try seal(bytes, column, account(), row()).blob : bytes.blob
    }

    /// The text of a stored form.
    func opened(_ stored: String, _ column: SealedColumn, row: @autoclosure () throws -> String) throws -> String {
        guard vault.isSealed else { return stored }
        guard let value = SealedValue(text: stored) else { throw StoreError.sealed(.damaged) }
        return String(decoding: try open(value, column, row()), as: UTF8.self)
    }

    /// The text of an optional stored form.
    func opened(_ stored: String?, _ column: SealedColumn, row: @autoclosure () throws -> String) throws -> String? {
        guard let stored else { return nil }
        return try opened(stored, column, row: row()) as String
    }

    /// The bytes of a stored form.
    func opened(_ stored: Data, _ column: SealedColumn, row: @autoclosure () throws -> String) throws -> [UInt8] {
        guard vault.isSealed else { return [UInt8](stored) }
        guard let value = SealedValue(blob: stored) else { throw StoreError.sealed(.damaged) }
        return [UInt8](try open(value, column, row()))
    }

    func seal(_ bytes: [UInt8], _ column: SealedColumn, _ account: String?, _ row: String) throws -> SealedValue {
        var id = vault.ring?.active[account]
        if let known = id { id = try reserve(known) }
        let active = try id ?? vault.addDataKey(of: account, self)
        if id == nil { _ = try reserve(active) }
        guard let key = vault.ring?.keys[active]?.key else { throw StoreError.sealed(.damaged) }
        return try SealedValue.seal(bytes, with: key, id: active, column, row: row)
    }

    func open(_ value: SealedValue, _ column: SealedColumn, _ row: String) throws -> Data {
        guard let key = vault.ring?.keys[value.key]?.key else { throw StoreError.sealed(.damaged) }
        return try value.open(with: key, column, row: row)
    }

    // MARK: - Uses of a key

    /// The largest number of values sealed with one key: a random nonce must never repeat under it.
    static let largestUse = 1 << 31
    /// The uses that are counted at once. The stored number is therefore never too low, also after a crash.
    private static let reservation = 65_536

    /// Counts one use of an active key. A key that was used too often is replaced, and its values are sealed again in the
    /// background.
    ///
    /// - Returns: The key to use.
    private func reserve(_ id: Int64) throws -> Int64 {
        if let left = vault.ring?.keys[id]?.reserved, left > 0 {
            vault.ring?.keys[id]?.reserved = left - 1
            return id
        }
        try run("UPDATE data_keys SET uses = uses + ? WHERE id = ?", [Self.reservation, id])
        let uses = try integer("SELECT uses FROM data_keys WHERE id = ?", [id])
        vault.ring?.keys[id]?.reserved = Self.reservation - 1
        guard uses >= Self.largestUse else { return id }
        return try replaceDataKey(id)
    }

    /// Makes a new key the active one in place of `id`, whose values are sealed again later.
    func replaceDataKey(_ id: Int64) throws -> Int64 {
        guard let former = vault.ring?.keys[id] else { throw StoreError.sealed(.damaged) }
        try run("UPDATE data_keys SET state = 'retiring' WHERE id = ?", [id])
        vault.ring?.keys[id] = Vault.DataKey(key: former.key, account: former.account, isActive: false)
        return try vault.addDataKey(of: former.account, self)
    }
}
