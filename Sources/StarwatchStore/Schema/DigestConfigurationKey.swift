/// The keys of `notif_config`.
enum DigestConfigurationKey {
    static let configuration = "digests"
    static let armedThrough = "armed_through:"
    static let heartbeat = "heartbeat_at"
}
