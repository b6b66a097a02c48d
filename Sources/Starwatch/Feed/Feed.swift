import FoundationEssentials
import StarwatchCore
import StarwatchStore
import Synchronization

/// The last notifications, for readers of the control API that list or follow them.
///
/// They are in the database, so a reader needs no buffer of its own. A reader can fetch missed notifications while they
/// are still kept.
final class Feed: Sendable {
    /// The maximum number of followers.
    static let readerLimit = 16
    /// The interval of heartbeats to a reader while there is no news.
    static let heartbeat = Duration.seconds(15)

    private struct State {
        var store: Store?
        var readers: [ObjectIdentifier: FeedReader] = [:]
    }

    private let time: any TimeSource
    private let state = Mutex(State())

    init(time: any TimeSource) { self.time = time }

    /// Sets the feed's database. Before that, the feed takes nothing.
    func attach(_ store: Store) { state.withLock { $0.store = store } }

    private var store: Store? { state.withLock(\.store) }

    /// Stores a notification, and wakes the followers.
    func append(_ notification: OutgoingNotification, keep: Int) async -> SinkResult {
        guard let store else { return .unavailable("The feed is not open yet.", retryAfter: nil) }
        do {
            try await store.appendFeed(notification.id, payload: notification.payload, keep: keep, now: time.now)
        } catch {
            return .unavailable("The feed cannot be stored.", retryAfter: nil)
        }
        for reader in state.withLock({ Array($0.readers.values) }) { reader.wake() }
        return .ok
    }

    func list(_ query: FeedQuery) async throws(StoreError) -> [FeedEntry] {
        guard let store else { return [] }
        return try await store.feed(before: query.before, limit: query.limit).compactMap(FeedEntry.init)
    }

    /// - Parameter sequence: The sequence of the reader's last notification; `nil` for new ones only. An unknown
    ///   sequence belongs to another database and counts as 0.
    /// - Returns: `nil` if there are too many followers.
    func follow(after sequence: Int64?) async throws(StoreError) -> FeedReader? {
        guard let store else { return nil }
        let latest = try await store.latestFeedSequence()
        let reader = FeedReader(
            after: sequence.map { $0 <= latest ? max(0, $0) : 0 } ?? latest,
            heartbeat: Self.heartbeat,
            time: time,
            read: { after, limit throws(StoreError) in try await store.feed(after: after, limit: limit) },
            onEnd: { [weak self] in self?.remove($0) }
        )
        return state.withLock { state in
            guard state.readers.count < Self.readerLimit else { return nil }
            state.readers[ObjectIdentifier(reader)] = reader
            return reader
        }
    }

    private func remove(_ reader: FeedReader) {
        state.withLock { $0.readers[ObjectIdentifier(reader)] = nil }
    }
}

extension FeedEntry {
    /// `nil` if the row is not a notification, which should never happen.
    fileprivate init?(_ row: FeedRow) {
        guard let message = try? JSONDecoder().decode(NotificationMessage.self, from: Data(row.payload)) else {
            return nil
        }
        self.init(sequence: row.sequence, storedAt: row.storedAt.iso8601, notification: message)
    }
}
