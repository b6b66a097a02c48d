import FoundationEssentials
import StarwatchCore
import StarwatchStore
import Synchronization

/// The last notifications, for whoever asks over the control API or follows them there.
///
/// They are in the database, so a reader needs no buffer of its own: whatever he missed is read again, as far as it is
/// still kept.
final class Feed: Sendable {
    /// How many may follow at once.
    static let readerLimit = 16
    /// So long without news, a reader is told that the connection is well.
    static let heartbeat = Duration.seconds(15)

    private struct State {
        var store: Store?
        var readers: [ObjectIdentifier: FeedReader] = [:]
    }

    private let time: any TimeSource
    private let state = Mutex(State())

    init(time: any TimeSource) { self.time = time }

    /// Gives the feed its database; before that it takes nothing.
    func attach(_ store: Store) { state.withLock { $0.store = store } }

    private var store: Store? { state.withLock(\.store) }

    /// Keeps a notification, and wakes whoever follows.
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

    /// - Parameter sequence: What the reader had last; `nil`: only what comes from now on. One that was never given is of
    ///   another database, and counts as 0.
    /// - Returns: `nil` when too many follow already.
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
    /// `nil` for a row that is no notification, which nobody writes.
    fileprivate init?(_ row: FeedRow) {
        guard let message = try? JSONDecoder().decode(NotificationMessage.self, from: Data(row.payload)) else {
            return nil
        }
        self.init(sequence: row.sequence, storedAt: row.storedAt.iso8601, notification: message)
    }
}
