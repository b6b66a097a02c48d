import GRDB

/// The pages that are checked before the database is used.
enum PageCheckScope {
    /// None: the last agent closed the database with all pages checked.
    case none
    /// Those of the tables that decide what is fetched, acknowledged and signed. They are small. A ``PageCheck`` follows.
    /// If the database has no more pages than `atOnce`, all.
    case deciding(atOnce: Int)
    case all

    /// Tables whose rows decide, and whose size does not grow with the changes.
    static let deciding = [
        "account_sinks", "accounts", "ack_batches", "active_identity", "data_keys", "host_watermarks", "installation",
        "leases",
        "ledger", "ledger_totals", "poll_schedules",
        "removed_accounts", "request_windows", "sealed_accounts", "sealing", "servers", "settings", "signing_keys",
        "streams", "watermarks",
    ]
}

extension Database {
    /// Checks pages of a database with a schema.
    ///
    /// - Returns: Whether every page is known to be sound.
    func check(_ scope: PageCheckScope, version: Int) throws -> Bool {
        switch try version < Schema.supported.upperBound || isBeingCleaned ? .all : scope {
        case .none: return true
        case .deciding(let atOnce) where try pageCount > atOnce:
            for table in PageCheckScope.deciding { try checkPages(of: table) }
            return false
        case .deciding, .all:
            try checkPages()
            return true
        }
    }

    private var pageCount: Int { get throws { try Int.fetchOne(self, sql: "PRAGMA page_count") ?? 0 } }

    /// Whether the next step after opening is to rewrite the whole file.
    private var isBeingCleaned: Bool {
        get throws { try String.fetchOne(self, sql: "SELECT state FROM sealing") == "cleaning" }
    }

    /// Checks the structure of every page, or of those of one table and its indexes.
    ///
    /// - Throws: ``StoreError/corrupt(detail:)``.
    func checkPages(of table: String? = nil) throws {
        let argument = table ?? "1"
        guard try String.fetchOne(self, sql: "PRAGMA quick_check(\(argument))") == "ok" else {
            throw StoreError.corrupt(detail: "the check of its pages failed")
        }
    }
}
