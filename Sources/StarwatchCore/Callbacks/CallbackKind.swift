/// The kinds of callback events.
public enum CallbackKind: String, Sendable, CaseIterable {
    /// A digest was shown.
    case delivery
    /// A digest was not shown, or its fetch failed.
    case error
    /// The agent is running.
    case heartbeat
    /// The configuration of the digests changed.
    case configUpdated = "config_updated"
}
