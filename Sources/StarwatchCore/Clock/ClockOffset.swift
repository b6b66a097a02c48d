/// The offset between the server's clock and the local one, as far as the agent follows it.
///
/// A server can send any time. The skew is reported as it was measured, but tokens and stored times follow it only up to
/// ``longest``, and no age depends on it.
public enum ClockOffset {
    /// The largest offset that the agent follows: 24 h. A clock that shows local time as UTC is off by at most 14 h. A
    /// hostile server could otherwise get a token for a year to come.
    public static let longest = Duration.seconds(86_400)

    /// Limits an offset to ``longest`` in either direction.
    public static func bounded(_ offset: Duration) -> Duration {
        min(max(offset, .zero - longest), longest)
    }
}
