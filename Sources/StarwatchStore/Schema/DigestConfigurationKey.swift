/// The keys of `notif_config`.
enum DigestConfigurationKey {
    static let configuration = "digests"
    static let armedThrough = "armed_through:"
    static let heartbeat = "heartbeat_at"
}

extension Session {
    /// The value of a key in `notif_config`.
    func configured(_ key: String) throws -> String? {
        try value("SELECT v FROM notif_config WHERE k = ?", [key])
    }

    /// Stores the value of a key in `notif_config`.
    func configure(_ key: String, _ value: String) throws {
        try run(
            "INSERT INTO notif_config (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = excluded.v",
            [key, value]
        )
    }
}
