/// A server-sent event of the feed.
package struct FeedEvent: Sendable, Hashable {
    /// The sequence; `nil` where the event has none.
    package var sequence: Int64?
    /// `notification`; `gap` for notifications that are no longer kept; `message`, without data, for the place to resume
    /// from.
    package var name: String
    /// JSON.
    package var data: String
}

/// A parser of server-sent events that arrive in pieces of any length.
struct FeedEventParser {
    /// The maximum length of a line: far more than a notification has.
    static let lineLimitBytes = 16 * 1_048_576

    private var line: [UInt8] = []
    private var event = FeedEvent(sequence: nil, name: "message", data: "")

    /// Returns the events that `bytes` complete; `nil` if a line exceeds the maximum.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [FeedEvent]? {
        var events: [FeedEvent] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            if let event = finishLine() { events.append(event) }
        }
        return line.count <= Self.lineLimitBytes ? events : nil
    }

    private mutating func finishLine() -> FeedEvent? {
        let text = String(decoding: line, as: UTF8.self)
        line.removeAll(keepingCapacity: true)
        guard !text.isEmpty else {
            defer { event = FeedEvent(sequence: nil, name: "message", data: "") }
            return event.data.isEmpty && event.sequence == nil ? nil : event
        }
        let sides = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let value = String(sides[1].hasPrefix(" ") ? sides[1].dropFirst() : sides[1])
        switch sides[0] {
        case "id": event.sequence = Int64(value)
        case "event": event.name = value
        case "data": event.data += event.data.isEmpty ? value : "\n" + value
        default: break
        }
        return nil
    }
}
