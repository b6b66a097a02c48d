/// Decides how often to query a time server (RFC 4330, section 10).
///
/// Failures back off, a rate limit slows down, and a refusal ends the queries.
public struct NTPPace: Sendable, Hashable {
    /// The result of a query.
    public enum Outcome: Sendable, CaseIterable {
        case answered
        /// The answer was missing or unusable.
        case failed
        /// The server asked for fewer queries.
        case rateLimited
        /// The server refused further queries.
        case refused
    }

    /// The shortest time between two queries: 15 s.
    public static let shortest = Duration.seconds(15)

    private let interval: Duration
    private var failures = 0
    private var slowdown = 1
    private var isRefused = false

    /// - Parameter interval: The time between two successful queries; at least ``shortest``.
    public init(interval: Duration) {
        self.interval = max(interval, Self.shortest)
    }

    /// The wait before the next query; `nil` when the server must not be queried again.
    ///
    /// After a failure the wait is 15 s. It doubles with every further failure, up to eight intervals.
    public mutating func wait(after outcome: Outcome) -> Duration? {
        switch outcome {
        case .answered: failures = 0
        case .failed: failures += 1
        case .rateLimited: slowdown = min(slowdown * 2, 64)
        case .refused: isRefused = true
        }
        if isRefused { return nil }
        let regular = interval * slowdown
        guard failures > 0, outcome != .rateLimited else { return regular }
        return min(max(Self.shortest * (1 << min(failures - 1, 16)), Self.shortest * slowdown), regular * 8)
    }
}
