import Crypto
import FoundationEssentials
import GRDB
import StarwatchCore

/// The open keys of one database. Without a master key it is empty, and every value stays clear.
///
/// Only the store's queue uses it. The keys of the database are read again after a failed transaction, which can have
/// created some.
final class Vault {
    /// A key that encrypts the values of one account, or of none.
    struct DataKey {
        let key: SymmetricKey
        /// The stored form of the account; `nil` for values of no account.
        let account: String?
        let isActive: Bool
        /// How often the key can still be used before ``Session/reserve(_:)`` must count again.
        var reserved = 0
    }

    struct Ring {
        var lookup: SymmetricKey
        var installation: SymmetricKey
        var keys: [Int64: DataKey] = [:]
        /// The ids of the active keys, by account.
        var active: [String?: Int64] = [:]
        /// The accounts by their stored form.
        var accounts: [String: DID] = [:]
    }

    /// The keys; `nil` if the database is not encrypted.
    var ring: Ring?
    private(set) var master: MasterKey?
    /// Master keys of which one opens the database: after a failed change of the master key it can be either.
    private var candidates: [MasterKey] = []
    private var mustLoad = false
    private let now: @Sendable () -> Timestamp
    private let newKey: @Sendable () -> [UInt8]
    /// The stored forms of accounts. A form costs a hash of 1.4 µs, and a cycle needs about ten (2 cores AMD EPYC).
    private var forms: [DID: String] = [:]

    /// - Parameters:
    ///   - newKey: Returns the 32 bytes of a new key.
    ///   - now: The time for the records of new keys.
    init(newKey: @escaping @Sendable () -> [UInt8], now: @escaping @Sendable () -> Timestamp) {
        (self.newKey, self.now) = (newKey, now)
    }

    var isSealed: Bool { ring != nil }
    /// The key with which logs hash identities; `nil` if the database is not encrypted.
    var installation: Data? { ring?.installation.withUnsafeBytes { Data($0) } }

    /// The account as it is stored: the DID, or a keyed hash of it.
    func form(of account: DID) -> String {
        guard let ring else { return account.rawValue }
        if let form = forms[account] { return form }
        if forms.count >= 1000 { forms.removeAll() }
        let form = Self.form(of: account.rawValue, as: "account", ring.lookup)
        forms[account] = form
        return form
    }

    /// A keyed hash, under which an encrypted value is looked up.
    static func form(of text: String, as kind: String, _ lookup: SymmetricKey) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array("\(kind)\u{1F}\(text)".utf8), using: lookup)
        return Data(code).base64EncodedString()
    }

    func failed() { mustLoad = true }

    /// Reads the keys again after a failure.
    func refresh(_ db: Database) throws {
        guard mustLoad else { return }
        let id = try String.fetchOne(db, sql: "SELECT master_key FROM sealing")
        if let master = candidates.first(where: { $0.id == id }) {
            try load(db, master)
        } else {
            (ring, master) = (nil, nil)
            forms.removeAll()
        }
        mustLoad = false
    }

    /// Reads the keys of an encrypted database.
    func load(_ db: Database, _ master: MasterKey) throws {
        var data: [Int64: DataKey] = [:]
        var active: [String?: Int64] = [:]
        var special: [String: SymmetricKey] = [:]
        for row in try Row.fetchAll(db, sql: "SELECT id, purpose, account, wrapped, state FROM data_keys") {
            let (id, purpose, account) = (row[0] as Int64, row[1] as String, row[2] as String?)
            // A damaged key harms only its values, which `keys verify` lists.
            guard let key = try? master.unwrap(row[3], Self.context(id, purpose, account)) else { continue }
            guard purpose == Purpose.data else {
                special[purpose] = key
                continue
            }
            let isActive = row[4] == "active"
            data[id] = DataKey(key: key, account: account, isActive: isActive)
            if isActive { active[account] = id }
        }
        guard let lookup = special[Purpose.lookup], let installation = special[Purpose.installation] else {
            throw StoreError.sealed(.damaged)
        }
        var ring = Ring(lookup: lookup, installation: installation, keys: data, active: active)
        for row in try Row.fetchAll(db, sql: "SELECT account, did FROM sealed_accounts") {
            let account: String = row[0]
            guard let sealed = SealedValue(text: row[1]), let key = data[sealed.key],
                let text = try? sealed.open(with: key.key, .did, row: account)
            else { continue }
            ring.accounts[account] = DID(String(decoding: text, as: UTF8.self))
        }
        self.ring = ring
        adopt(master)
    }

    private func adopt(_ master: MasterKey) {
        self.master = master
        candidates.append(master)
        forms.removeAll()
    }

    /// Makes the keys of a database and stores them, in the caller's transaction.
    ///
    /// - Parameter installation: The key with which logs hash identities.
    func create(_ db: Database, _ master: MasterKey, installation: Data) throws {
        let time = now()
        try db.execute(
            sql: "INSERT INTO sealing (id, master_key, state, changed_at) VALUES (1, ?, 'sealed', ?)",
            arguments: [master.id, time.milliseconds]
        )
        ring = Ring(lookup: SymmetricKey(data: newKey()), installation: SymmetricKey(data: installation))
        adopt(master)
        guard let ring else { return }
        _ = try add(ring.lookup, Purpose.lookup, nil, db)
        _ = try add(ring.installation, Purpose.installation, nil, db)
    }

    /// Removes the keys, in the caller's transaction.
    func destroy(_ db: Database) throws {
        try db.execute(sql: "DELETE FROM data_keys; DELETE FROM sealed_accounts; DELETE FROM sealing")
        (ring, master) = (nil, nil)
        forms.removeAll()
    }

    /// Stores a new data key and makes it the active one of its account.
    ///
    /// - Returns: Its id.
    func addDataKey(of account: String?, _ db: Database) throws -> Int64 {
        let key = SymmetricKey(data: newKey())
        let id = try add(key, Purpose.data, account, db)
        ring?.keys[id] = DataKey(key: key, account: account, isActive: true)
        ring?.active[account] = id
        return id
    }

    private func add(_ key: SymmetricKey, _ purpose: String, _ account: String?, _ db: Database) throws -> Int64 {
        guard let master else { throw StoreError.sealed(.damaged) }
        try db.execute(
            sql: "INSERT INTO data_keys (purpose, account, wrapped, state, created_at) VALUES (?, ?, x'', 'active', ?)",
            arguments: [purpose, account, now().milliseconds]
        )
        let id = db.lastInsertedRowID
        try db.execute(
            sql: "UPDATE data_keys SET wrapped = ? WHERE id = ?",
            arguments: [try master.wrap(key, Self.context(id, purpose, account)), id]
        )
        return id
    }

    /// Wraps every key with another master key, in the caller's transaction.
    func rewrap(with new: MasterKey, _ db: Database) throws {
        guard let master else { throw StoreError.sealed(.notEncrypted) }
        for row in try Row.fetchAll(db, sql: "SELECT id, purpose, account, wrapped FROM data_keys") {
            let context = Self.context(row[0], row[1], row[2])
            // A damaged key opens nothing with another master key either.
            guard let key = try? master.unwrap(row[3], context) else { continue }
            try db.execute(
                sql: "UPDATE data_keys SET wrapped = ? WHERE id = ?",
                arguments: [try new.wrap(key, context), row[0] as Int64]
            )
        }
        try db.execute(
            sql: "UPDATE sealing SET master_key = ?, changed_at = ?",
            arguments: [new.id, now().milliseconds]
        )
        adopt(new)
    }

    /// The text that binds a wrapped key to its row.
    private static func context(_ id: Int64, _ purpose: String, _ account: String?) -> String {
        "data_keys\u{1F}\(id)\u{1F}\(purpose)\u{1F}\(account ?? "")"
    }

    /// The values of `data_keys.purpose`.
    enum Purpose {
        static let data = "data"
        static let lookup = "lookup"
        static let installation = "installation"
    }
}
