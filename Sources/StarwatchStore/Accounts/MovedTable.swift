/// A table whose rows move with their account to another agent.
///
/// `MoveTests` says why each of the others stays behind.
struct MovedTable {
    let name: String
    /// The condition of an account's rows. Its only argument is the stored form of the account.
    let rows: String
    /// The column with the stored form of the account; `nil` if a row belongs to one by another table.
    var account: String?
    /// Whether `id` is a number that the destination gives anew.
    var isNumbered = false
    /// The columns with ids of other tables, or with a JSON list of them.
    var references: [String: String] = [:]
    /// A column that an encrypted database replaces by a keyed hash, and the kind of the hash.
    var lookup: (column: String, kind: String)?
    /// The column in which an encrypted database keeps the value of ``lookup``; `nil` if it keeps none.
    var original: String?

    private static let ofStreams = "stream_id IN (SELECT id FROM streams WHERE account = ?1)"
    private static let ofNotifications = "notification_id IN (SELECT id FROM notifications WHERE \(ofStreams))"
    private static let ofRows = "row_id IN (SELECT id FROM notification_outbox WHERE \(ofStreams))"

    /// The tables in an order in which no row refers to a later one.
    static let all: [MovedTable] = [
        MovedTable(name: "settings", rows: "accountDid = ?1", account: "accountDid", isNumbered: true),
        ofAccount("starred_archive", isNumbered: true),
        ofAccount("streams", isNumbered: true),
        ofAccount("watermarks"), ofAccount("request_windows"), ofAccount("feature_notices"),
        ofAccount("signing_keys"), ofAccount(addresses), ofAccount("feed", isNumbered: true),
        MovedTable(
            name: feeds,
            rows: "account = ?1",
            account: "account",
            lookup: ("token", "feed"),
            original: "sealed_token"
        ),
        MovedTable(
            name: "plan_snapshots",
            rows: "account = ?1",
            account: "account",
            lookup: ("plan_id", "plan"),
            original: "sealed_plan_id"
        ),
        ofStream("ledger"), ofStream("watermark_moves"), ofStream("list_states"), ofStream("seen_items"),
        ofStream("history", isNumbered: true), ofStream("quarantine", isNumbered: true),
        MovedTable(
            name: "page_fetches",
            rows: """
                id IN (SELECT fetch_id FROM notification_outbox WHERE \(ofStreams)
                    UNION SELECT fetch_id FROM former_states WHERE \(ofRows) OR \(ofNotifications))
                """,
            isNumbered: true
        ),
        ofStream("notifications", isNumbered: true),
        ofStream(
            "notification_outbox",
            isNumbered: true,
            ["notification_id": "notifications", "fetch_id": "page_fetches"]
        ),
        ofStream("ack_batches", isNumbered: true, ["row_ids": "notification_outbox"]),
        ofNotification("deliveries"), ofNotification("delivery_attempts"), ofNotification("notification_actions"),
        MovedTable(
            name: "shortlinks",
            rows: ofNotifications,
            references: ["notification_id": "notifications"],
            lookup: ("token", "shortlink")
        ),
        ofStream("staleness_notices", ["notification_id": "notifications"]),
        MovedTable(
            name: "former_states",
            rows: "\(ofRows) OR \(ofNotifications)",
            isNumbered: true,
            references: [
                "row_id": "notification_outbox", "notification_id": "notifications", "fetch_id": "page_fetches",
            ]
        ),
    ]

    /// The table of what only an agent for many accounts uses, and an encrypted database keeps.
    static let addresses = "account_sinks"
    /// The table with the tokens of feeds' addresses, which the same agents use.
    static let feeds = "feeds"

    private static func ofAccount(_ name: String, isNumbered: Bool = false) -> MovedTable {
        MovedTable(name: name, rows: "account = ?1", account: "account", isNumbered: isNumbered)
    }

    private static func ofStream(
        _ name: String,
        isNumbered: Bool = false,
        _ references: [String: String] = [:]
    ) -> MovedTable {
        MovedTable(
            name: name,
            rows: ofStreams,
            isNumbered: isNumbered,
            references: references.merging(["stream_id": "streams"]) { $1 }
        )
    }

    private static func ofNotification(_ name: String) -> MovedTable {
        MovedTable(name: name, rows: ofNotifications, references: ["notification_id": "notifications"])
    }
}
