import FoundationEssentials

/// The columns that are encrypted if the database has a master key. The raw values are part of what a ciphertext is bound
/// to, so they never change.
enum SealedColumn: String, CaseIterable {
    case did = "sealed_accounts.did"
    case stars = "settings.starredPlanHandleIds"
    case archivedStars = "starred_archive.plan_ids"
    case outboxPlan = "notification_outbox.plan_id"
    case outboxName = "notification_outbox.name"
    case outboxChanges = "notification_outbox.changed_fields"
    case outboxDetails = "notification_outbox.details"
    case notificationTitle = "notifications.title"
    case notificationBody = "notifications.body"
    case notificationPayload = "notifications.payload"
    case snapshotPlan = "plan_snapshots.sealed_plan_id"
    case snapshotFields = "plan_snapshots.fields"
    case shortlinkTargets = "shortlinks.targets"
    case feedPayload = "feed.payload"
    case feedToken = "feeds.sealed_token"
    case digestContent = "notif_contents.payload_json"
    case digestETag = "notif_contents.etag"
    case digestTitle = "notif_deliveries.title"
    case digestBody = "notif_deliveries.body"
    case digestPayload = "notif_deliveries.payload"
    case signingKey = "signing_keys.secret"
    case sinkAddress = "account_sinks.address"
    case movedBundle = "account_moves.bundle"
    case listKey = "list_states.item_key"
    case listState = "list_states.state"

    var table: String { String(rawValue.prefix { $0 != "." }) }
    var name: String { String(rawValue.drop { $0 != "." }.dropFirst()) }

    /// Whether former versions left values of the column clear in an encrypted database. They stay readable until they are
    /// written again.
    var wasClear: Bool { self == .digestETag }

    /// Whether the column is a blob.
    var isBlob: Bool {
        switch self {
        case .notificationPayload, .feedPayload, .digestPayload, .signingKey, .sinkAddress, .movedBundle, .listKey:
            true
        default: false
        }
    }
}

extension SealedColumn {
    /// The columns without which a change cannot be announced.
    static let ofChange: Set<SealedColumn> = [.outboxPlan, .outboxName]

    /// The value in place of one that does not open, when the database is decrypted or an account moves; `nil` if the row is
    /// worth nothing without it.
    var standIn: SQLValue? {
        switch self {
        // Neither is a list, so the stars are unreadable, and nobody takes them for none.
        case .stars, .archivedStars: .text("null")
        case .outboxPlan, .outboxName, .notificationTitle, .notificationBody: .text(Unreadable.text)
        // Without its key a list begins anew.
        case .notificationPayload, .listKey: .blob(Data())
        case .outboxChanges, .outboxDetails, .feedToken, .digestETag, .digestTitle, .digestBody, .digestPayload,
            .movedBundle, .listState:
            .null
        case .did, .snapshotPlan, .snapshotFields, .shortlinkTargets, .feedPayload, .digestContent, .signingKey,
            .sinkAddress:
            nil
        }
    }
}

/// A table with encrypted columns, and how its rows are found and bound.
struct SealedTable {
    let name: String
    let columns: [SealedColumn]
    /// The columns of the primary key, which find a row again.
    let key: [String]
    /// The expression of the text that binds a value to its row. It does not change while the row lives.
    let row: String
    /// The expression of the account whose data key seals the row; `NULL` for the general key.
    let account: String

    static let all: [SealedTable] = [
        SealedTable([.did], key: ["account"], row: "account"),
        SealedTable([.stars], key: ["id"], row: "accountDid", account: "accountDid"),
        SealedTable([.archivedStars], key: ["id"], row: "account || '/' || archived_at"),
        SealedTable(
            [.outboxPlan, .outboxName, .outboxChanges, .outboxDetails],
            key: ["id"],
            row: "stream_id || '/' || jwt_id",
            account: ofStream
        ),
        SealedTable(
            [.notificationTitle, .notificationBody, .notificationPayload],
            key: ["id"],
            row: "token",
            account: ofStream
        ),
        SealedTable(
            [.snapshotPlan, .snapshotFields],
            key: ["account", "server", "plan_id"],
            row: "server || '/' || plan_id"
        ),
        SealedTable(
            [.shortlinkTargets],
            key: ["token"],
            row: "token",
            account: """
                (SELECT s.account FROM notifications n JOIN streams s ON s.id = n.stream_id
                    WHERE n.id = notification_id)
                """
        ),
        SealedTable([.feedPayload], key: ["id"], row: "token"),
        SealedTable([.feedToken], key: ["account"], row: "account"),
        SealedTable([.digestContent, .digestETag], key: ["id"], row: "slot_id || '/' || fetched_at"),
        SealedTable([.digestTitle, .digestBody, .digestPayload], key: ["id"], row: "slot_id || '/' || fire_at"),
        SealedTable([.signingKey], key: ["kid"], row: "kid"),
        SealedTable([.sinkAddress], key: ["account", "sink"], row: "account || '/' || sink"),
        SealedTable([.movedBundle], key: ["account"], row: "account"),
        SealedTable([.listKey, .listState], key: ["stream_id"], row: "stream_id || ''", account: ofStream),
    ]

    /// The columns that hold a keyed hash of the DID instead of the DID, by table.
    static let accounts: [(table: String, column: String)] = [
        ("settings", "accountDid"), ("active_identity", "activeDid"), ("starred_archive", "account"),
        ("streams", "account"), ("watermarks", "account"), ("notif_contents", "account"),
        ("notif_deliveries", "account"), ("request_windows", "account"), ("removed_accounts", "account"),
        ("feature_notices", "account"), ("plan_snapshots", "account"), ("signing_keys", "account"),
        ("digest_progress", "account"), ("accounts", "account"), ("leases", "account"),
        ("account_sinks", "account"),
        ("account_moves", "account"), ("feed", "account"), ("feeds", "account"),
    ]

    private static let ofStream = "(SELECT account FROM streams WHERE streams.id = stream_id)"

    private init(_ columns: [SealedColumn], key: [String], row: String, account: String = "account") {
        name = columns[0].table
        (self.columns, self.key, self.row, self.account) = (columns, key, row, account)
    }
}

/// The position of a pass over all encrypted rows.
struct ResealPass {
    /// The keys that were retiring when the pass began. They are destroyed at its end. Keys that retire later need
    /// another pass.
    let retiring: Set<Int64>
    /// The number of rows when the pass began.
    let total: Int
    var done = 0
    /// Keys of values that do not open. They are kept.
    var stuck: Set<Int64> = []
    /// The position in ``SealedTable/all``.
    var table = 0
    /// The key of the last row of the table; `nil` at its beginning.
    var last: [SQLValue]?

    var isDone: Bool { table == SealedTable.all.count }
    var progress: Double { min(0.999, Double(done) / Double(max(1, total))) }
}
