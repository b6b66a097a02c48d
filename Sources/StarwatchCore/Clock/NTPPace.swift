/// How often a time server may be asked (RFC 4330, 10): again soon when it did not answer, but less and less often,
/// more seldom when it asks for that, and never again when it refuses.
public struct NTPPace: Sendable, Hashable {
    /// How a question ended.
    public enum Outcome: Sendable, CaseIterable {
        case answered
        /// Without an answer, or with one that is of no use.
        case failed
        /// The server wants to be asked less often.
        case rateLimited
        /// The server wants not to be asked.
        case refused
    }

    /// The least time between two questions: 15 s.
    public static let shortest = Duration.seconds(15)

    private let interval: Duration
    private var failures = 0
    private var slowdown = 1
    private var isRefused = false

    /// - Parameter interval: Between two questions that are answered; less than ``shortest`` is read as that.
    public init(interval: Duration) {
        self.interval = max(interval, Self.shortest)
    }

    /// How long to wait before the next question; `nil`: it must not be asked.
    ///
    /// Without an answer 15 s, then twice as long each time, up to eight intervals.
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
