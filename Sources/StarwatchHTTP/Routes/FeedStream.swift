import Starwatch
import Synchronization

/// The feed as server-sent events, piece by piece.
final class FeedStream: Sendable {
    private let reader: FeedReader
    private let hasBegun = Atomic(false)

    init(_ reader: FeedReader) { self.reader = reader }

    /// Returns some whole events; `nil` at the end.
    func next() async -> String? {
        // An id without data tells the client only where to resume.
        if !hasBegun.exchange(true, ordering: .relaxed) { return "retry: 2000\nid: \(reader.position)\n\n" }
        switch await reader.next() {
        case .notifications(let events): return events.map(Self.text).joined()
        case .gap(let after, let before):
            return "event: gap\ndata: {\"after\":\(after),\"before\":\(before)}\n\n"
        case .heartbeat: return ": heartbeat\n\n"
        case .over: return nil
        }
    }

    private static func text(_ event: FeedEvent) -> String {
        "id: \(event.sequence ?? 0)\nevent: \(event.name)\ndata: \(event.data)\n\n"
    }
}
