import StarwatchStore
import Synchronization

/// The feed as server-sent events, piece by piece.
final class FeedStream: Sendable {
    private let reader: FeedReader
    private let hasBegun = Atomic(false)

    init(_ reader: FeedReader) { self.reader = reader }

    /// Some whole events; `nil` at the end.
    func next() async -> String? {
        // An id without data only says where to go on from.
        if !hasBegun.exchange(true, ordering: .relaxed) { return "retry: 2000\nid: \(reader.position)\n\n" }
        switch await reader.next() {
        case .rows(let rows):
            return rows.map { row in
                "id: \(row.sequence)\nevent: notification\ndata: \(String(decoding: row.payload, as: UTF8.self))\n\n"
            }.joined()
        case .gap(let after, let before):
            return "event: gap\ndata: {\"after\":\(after),\"before\":\(before)}\n\n"
        case .heartbeat: return ": heartbeat\n\n"
        case .over: return nil
        }
    }
}
