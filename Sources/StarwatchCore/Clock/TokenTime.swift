/// The time that a token is issued at.
public enum TokenTime {
    /// The largest offset from the local clock: 24 h. A hostile server could otherwise get a token for a year to come.
    public static let longestOffset = Duration.seconds(86_400)

    /// Returns the server's time, at most ``longestOffset`` from the local clock.
    public static func issue(server: Timestamp, local: Timestamp) -> Timestamp {
        min(max(server, local - longestOffset), local + longestOffset)
    }
}
