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
