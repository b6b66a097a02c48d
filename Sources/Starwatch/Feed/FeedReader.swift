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
        self.heartbeat = heartbeat
        self.time = time
        self.read = read
        self.onEnd = onEnd
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
        return .notifications(rows.map { FeedEvent(notification: $0) })
    }
}

extension FeedEvent {
    fileprivate init(notification row: FeedRow) {
        self.init(sequence: row.sequence, name: "notification", data: String(decoding: row.payload, as: UTF8.self))
    }
}
