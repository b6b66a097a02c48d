/// The events that a callback can be told.
public enum CallbackKind: String, Sendable, CaseIterable {
    /// A digest was shown.
    case delivery
    /// A digest was not shown, or its fetch failed.
    case error
    /// The agent runs.
    case heartbeat
    /// The configuration of the digests is another one.
    case configUpdated = "config_updated"
}
