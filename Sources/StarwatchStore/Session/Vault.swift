import Crypto
import FoundationEssentials
import StarwatchCore

/// The open keys of one database. Without a master key it is empty, and every value stays clear.
///
/// A key is read when it is first needed, so that an account that does nothing costs nothing.
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
        /// How often the key can still be used before ``DataKeyRows/reserve(_:)`` must count again.
        var reserved = 0
    }

    struct Ring {
        let lookup: SymmetricKey
        let installation: SymmetricKey
        /// The keys that were needed, by id; ``DataKeyRows/key(_:)`` reads the others.
        var keys: [Int64: DataKey] = [:]
        /// The ids of the active keys that were needed, by account.
        var active: [String?: Int64] = [:]
        /// The accounts that were needed, by their stored form.
        var accounts: [String: DID] = [:]
        /// The ids of all retiring keys that open.
        var retiring: Set<Int64> = []

        /// Forgets what can be read again, when it has become much.
        mutating func trim() {
            if keys.count >= Vault.limit { (keys, active) = ([:], [:]) }
            if accounts.count >= Vault.limit { accounts = [:] }
        }
    }

    /// The largest number of keys, and of accounts, that are kept in memory.
    static let limit = 1000

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
        let form = Self.form(of: account.rawValue, as: "account", ring.lookup)
        keep(form, of: account)
        return form
    }

    func keep(_ form: String, of account: DID) {
        if forms.count >= Self.limit { forms.removeAll() }
        forms[account] = form
    }

    /// A keyed hash, under which an encrypted value is looked up.
    private static func form(of text: String, as kind: String, _ lookup: SymmetricKey) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Array("\(kind)\u{1F}\(text)".utf8), using: lookup)
        return Data(code).base64EncodedString()
    }

    /// The text for exact lookup: itself, or a keyed hash of it in an encrypted database.
    func lookup(_ text: String, as kind: String) -> String {
        ring.map { Self.form(of: text, as: kind, $0.lookup) } ?? text
    }

    func failed() { mustLoad = true }

    /// Reads the keys again after a failure.
    func refresh(_ db: Session) throws {
        guard mustLoad else { return }
        let id: String? = try db.value("SELECT master_key FROM sealing")
        if let master = candidates.first(where: { $0.id == id }) {
            try load(db, master)
        } else {
            (ring, master) = (nil, nil)
            forms.removeAll()
        }
        mustLoad = false
    }

    /// Reads the keys of an encrypted database that belong to no values, and those that are retiring.
    func load(_ db: Session, _ master: MasterKey) throws {
        var special: [String: SymmetricKey] = [:]
        var retiring: Set<Int64> = []
        for stored in try openKeys(db, with: master, "purpose <> '\(Purpose.data)' OR state = 'retiring'") {
            if stored.purpose == Purpose.data {
                retiring.insert(stored.id)
            } else {
                special[stored.purpose] = stored.key
            }
        }
        guard let lookup = special[Purpose.lookup], let installation = special[Purpose.installation] else {
            throw StoreError.sealed(.damaged)
        }
        ring = Ring(lookup: lookup, installation: installation, retiring: retiring)
        adopt(master)
    }

    /// Reads the data keys of a condition into the ring.
    ///
    /// - Returns: The ids of those that open, in their order.
    func readKeys(_ db: Session, _ condition: String, _ arguments: SQLArguments) throws -> [Int64] {
        guard let master else { return [] }
        ring?.trim()
        let found = try openKeys(db, with: master, "purpose = '\(Purpose.data)' AND \(condition)", arguments)
        for (id, _, account, key, isActive) in found {
            ring?.keys[id] = DataKey(key: key, account: account, isActive: isActive)
        }
        return found.map(\.id)
    }

    /// The keys of a condition that open, in the order of their ids. A damaged key harms only its values, which `keys verify`
    /// lists.
    private func openKeys(
        _ db: Session,
        with master: MasterKey,
        _ condition: String,
        _ arguments: SQLArguments = []
    ) throws -> [(id: Int64, purpose: String, account: String?, key: SymmetricKey, isActive: Bool)] {
        try db.all(
            "SELECT id, purpose, account, wrapped, state FROM data_keys WHERE \(condition) ORDER BY id",
            arguments
        ) { row -> (id: Int64, purpose: String, account: String?, key: SymmetricKey, isActive: Bool)? in
            let (id, purpose, account): (Int64, String, String?) = (
                try row["id"], try row["purpose"], try row["account"]
            )
            let (wrapped, state): (Data, String) = (try row["wrapped"], try row["state"])
            let key = try? master.unwrap(wrapped, Self.context(id, purpose, account))
            return key.map { (id, purpose, account, $0, state == "active") }
        }.compactMap(\.self)
    }

    private func adopt(_ master: MasterKey) {
        self.master = master
        candidates.append(master)
        forms.removeAll()
    }

    /// Makes the keys of a database and stores them, in the caller's transaction.
    ///
    /// - Parameter installation: The key with which logs hash identities.
    func create(_ db: Session, _ master: MasterKey, installation: Data) throws {
        let time = now()
        try db.run(
            "INSERT INTO sealing (id, master_key, state, changed_at) VALUES (1, ?, 'sealed', ?)",
            [master.id, time.milliseconds]
        )
        ring = Ring(lookup: SymmetricKey(data: newKey()), installation: SymmetricKey(data: installation))
        adopt(master)
        guard let ring else { return }
        _ = try add(ring.lookup, as: Purpose.lookup, of: nil, db)
        _ = try add(ring.installation, as: Purpose.installation, of: nil, db)
    }

    /// Removes the keys, in the caller's transaction.
    func destroy(_ db: Session) throws {
        try db.execute("DELETE FROM data_keys; DELETE FROM sealed_accounts; DELETE FROM sealing")
        (ring, master) = (nil, nil)
        forms.removeAll()
    }

    /// Stores a new data key and makes it the active one of its account.
    ///
    /// - Returns: Its id.
    func addDataKey(of account: String?, _ db: Session) throws -> Int64 {
        let key = SymmetricKey(data: newKey())
        let id = try add(key, as: Purpose.data, of: account, db)
        ring?.keys[id] = DataKey(key: key, account: account, isActive: true)
        ring?.active[account] = id
        return id
    }

    private func add(_ key: SymmetricKey, as purpose: String, of account: String?, _ db: Session) throws -> Int64 {
        guard let master else { throw StoreError.sealed(.damaged) }
        let id = try db.inserted(
            """
            INSERT INTO data_keys (purpose, account, wrapped, state, created_at) VALUES (?, ?, x'', 'active', ?)
            RETURNING id
            """,
            [purpose, account, now().milliseconds]
        )
        try db.run(
            "UPDATE data_keys SET wrapped = ? WHERE id = ?",
            [try master.wrap(key, Self.context(id, purpose, account)), id]
        )
        return id
    }

    /// Wraps every key with another master key, in the caller's transaction.
    func rewrap(with new: MasterKey, _ db: Session) throws {
        guard let master else { throw StoreError.sealed(.notEncrypted) }
        // A damaged key opens nothing with another master key either.
        for (id, purpose, account, key, _) in try openKeys(db, with: master, "id > 0") {
            let wrapped = try new.wrap(key, Self.context(id, purpose, account))
            try db.run("UPDATE data_keys SET wrapped = ? WHERE id = ?", [wrapped, id])
        }
        try db.run("UPDATE sealing SET master_key = ?, changed_at = ?", [new.id, now().milliseconds])
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
