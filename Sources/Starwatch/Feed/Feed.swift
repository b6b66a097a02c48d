import StarwatchCore
import StarwatchStore
import StarwatchTransport
import Synchronization

/// The latest notifications of each account, which the control API lists and streams.
///
/// They are in the database, so a reader needs no buffer: it reads what it missed, as far as it is still kept.
final class Feed: Sendable {
    /// The maximum number of readers of an account, so that those of one take no place of another's.
    static let readerLimit = 16
    /// The interval of heartbeats to a reader without news.
    static let heartbeat = Duration.seconds(15)

    private struct State {
        var store: Store?
        var installation: Installation?
        /// The readers, each with the one of many accounts that it reads; `nil` for the active identity.
        var readers: [ObjectIdentifier: (served: DID?, reader: FeedReader)] = [:]
    }

    private let time: any TimeSource
    private let state = Mutex(State())

    init(time: any TimeSource) { self.time = time }

    /// Sets the database and its installation. Before that the feed takes nothing.
    func attach(_ store: Store, _ installation: Installation) {
        state.withLock { ($0.store, $0.installation) = (store, installation) }
    }

    private var store: Store? { state.withLock(\.store) }

    /// The id by which readers know the feed under any address: that of the installation, or one for each of many accounts.
    func id(of served: DID?) -> String {
        guard let installation = state.withLock(\.installation) else { return "" }
        guard let served else { return installation.instanceID }
        let name = InstallationHash(key: installation.key).hash(served)
        return String(ContentHash.text("\(installation.instanceID) \(name)").prefix(32))
    }

    /// Stores a notification and wakes the account's readers.
    ///
    /// - Parameter account: `nil` if nobody is signed in.
    func append(_ notification: OutgoingNotification, of account: DID?, keep: Int) async -> SinkResult {
        guard let store else {
            return .unavailable(SinkFailure("The feed is not open yet.", .database))
        }
        guard let account else {
            return .unavailable(SinkFailure("Nobody is signed in whose feed it is; sign in first.", .identityChanged))
        }
        do throws(StoreError) {
            try await store.feed.append(
                notification.id,
                payload: notification.payload,
                of: account,
                keep: keep,
                now: time.now
            )
        } catch {
            if error == .leaseLost { return .unavailable(.abandoned) }
            return .unavailable(SinkFailure("The feed cannot be stored.", .database))
        }
        for (served, reader) in state.withLock({ Array($0.readers.values) }) where served ?? account == account {
            reader.wake()
        }
        return .ok
    }

    func list(_ query: NotificationQuery, of identity: IdentityContext) async throws(StoreError) -> [FeedEntry] {
        guard let store, let account = try await identity.owner() else { return [] }
        return try await store.feed.list(of: account, before: query.before, limit: query.limit).compactMap { row in
            // One that cannot be decoded is never written.
            NotificationMessage(json: row.payload).map {
                FeedEntry(sequence: row.sequence, storedAt: row.storedAt.iso8601, notification: $0)
            }
        }
    }

    /// - Parameter sequence: The last sequence the reader has; `nil` for new notifications only. A sequence beyond the
    ///   latest one is of another database and counts as 0.
    /// - Returns: `nil` if there are too many readers.
    func follow(_ identity: IdentityContext, after sequence: Int64?) async throws(StoreError) -> FeedReader? {
        guard let store else { return nil }
        var latest: Int64 = 0
        if let account = try await identity.owner() { latest = try await store.feed.latestSequence(of: account) }
        let reader = FeedReader(
            after: sequence.map { $0 <= latest ? max(0, $0) : 0 } ?? latest,
            heartbeat: Self.heartbeat,
            time: time,
            read: { after, limit throws(StoreError) in
                guard let account = try await identity.owner() else { return [] }
                return try await store.feed.list(of: account, after: after, limit: limit)
            },
            onEnd: { [weak self] in self?.remove($0) }
        )
        return state.withLock { state in
            guard state.readers.values.count(where: { $0.served == identity.served }) < Self.readerLimit else {
                return nil
            }
            state.readers[ObjectIdentifier(reader)] = (identity.served, reader)
            return reader
        }
    }

    private func remove(_ reader: FeedReader) { state.withLock { $0.readers[ObjectIdentifier(reader)] = nil } }
}

/// A page of kept notifications, newest first.
package struct NotificationQuery: Sendable, Hashable {
    /// The maximum number of notifications in a list.
    package static let listLimit = 1000

    /// The last sequence or row of the previous page; only smaller ones are listed.
    package var before: Int64?
    /// Only notifications of this change: its claim id, or the number of an outbox row. The feed ignores it.
    package var change: String?
    /// The maximum number of notifications.
    package var limit = 100

    package init() {}
}
