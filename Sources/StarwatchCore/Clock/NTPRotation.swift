/// Decides which time server is asked, and which one is next if it does not answer.
///
/// The server that answered last comes first. So the others are left alone as long as it answers. A server that refused is
/// never asked again.
public struct NTPRotation: Sendable, Hashable {
    /// The numbers of the servers in the order in which they are asked; empty if all have refused.
    public private(set) var order: [Int]

    /// - Parameter count: The number of servers.
    public init(count: Int) { order = Array(0..<count) }

    /// Notes the result of a query.
    public mutating func note(_ outcome: NTPPace.Outcome, of server: Int) {
        guard let place = order.firstIndex(of: server) else { return }
        switch outcome {
        case .answered: order = Array(order[place...] + order[..<place])
        case .refused: order.remove(at: place)
        case .failed, .rateLimited: break
        }
    }

    /// The result of a pass, made of the results of its queries: an answer is enough, and a refusal counts only if no server
    /// is left.
    public func outcome(of results: [NTPPace.Outcome]) -> NTPPace.Outcome {
        if results.contains(.answered) { return .answered }
        if order.isEmpty { return .refused }
        return results.contains(.rateLimited) ? .rateLimited : .failed
    }
}

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
    public init(interval: Duration) { self.interval = max(interval, Self.shortest) }

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
