import StarwatchStore
import Synchronization

/// A reader that follows the feed. One task reads; any task can wake or end it.
package final class FeedReader: Sendable {
    /// The result of a read.
    package enum Step: Sendable, Hashable {
        case notifications([FeedEvent])
        /// Notifications between `after` and `before` are no longer kept.
        case gap(after: Int64, before: Int64)
        /// No notification arrived within the interval.
        case heartbeat
        /// The agent stops, or the database cannot be read.
        case over
    }

    /// The maximum number of notifications in a step, which bounds the memory of a slow reader.
    package static let batch = 20

    private let heartbeat: Duration
    private let time: any TimeSource
    private let read: @Sendable (_ after: Int64, _ limit: Int) async throws(StoreError) -> [FeedRow]
    private let onEnd: @Sendable (FeedReader) -> Void
    private let signal = Signal()
    private let isOver = Atomic(false)
    private let last: Mutex<Int64>

    /// - Parameter onEnd: Called once, by the first ``end()``.
    init(
        after sequence: Int64,
        heartbeat: Duration,
        time: any TimeSource,
        read: @escaping @Sendable (_ after: Int64, _ limit: Int) async throws(StoreError) -> [FeedRow],
        onEnd: @escaping @Sendable (FeedReader) -> Void = { _ in }
    ) {
        last = Mutex(sequence)
        (self.heartbeat, self.time, self.read, self.onEnd) = (heartbeat, time, read, onEnd)
    }

    /// The sequence of the last notification that was read.
    package var position: Int64 { last.withLock { $0 } }

    /// Waits for the next step.
    package func next() async -> Step {
        if let step = await look() { return step }
        await signal.wait(for: heartbeat, on: time)
        return await look() ?? .heartbeat
    }

    /// Wakes the reader to look for new notifications.
    func wake() { signal.raise() }

    /// Ends the reader: from now on ``next()`` returns ``Step/over``.
    package func end() {
        guard !isOver.exchange(true, ordering: .relaxed) else { return }
        onEnd(self)
        signal.raise()
    }

    private func look() async -> Step? {
        if isOver.load(ordering: .relaxed) || Task.isCancelled { return .over }
        let position = position
        guard let rows = try? await read(position, Self.batch) else { return .over }
        guard let first = rows.first, let newest = rows.last else { return nil }
        if first.sequence > position + 1 {
            last.withLock { $0 = first.sequence - 1 }
            return .gap(after: position, before: first.sequence)
        }
        last.withLock { $0 = newest.sequence }
        let events = rows.map { row in
            FeedEvent(sequence: row.sequence, name: "notification", data: String(decoding: row.payload, as: UTF8.self))
        }
        return .notifications(events)
    }
}

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
