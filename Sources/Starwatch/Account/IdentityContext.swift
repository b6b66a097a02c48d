import Foundation
package import StarwatchCore
package import StarwatchStore
import Synchronization

/// The active identity and its stars, kept in memory so that an unchanged cycle does not read and encode them again.
///
/// In a database that a host application owns they may change behind our back, so they are read every time.
package final class IdentityContext: Sendable {
    /// What a cycle has to know of the identity.
    package struct Snapshot: Sendable {
        package var identity: ActiveIdentity
        package var interests: Interests?
        package var stars: [String] { interests?.stars ?? [] }
        /// The kinds of poll that the account's preferences switch off.
        package var optedOut: Set<PollKind> = []
        /// The stars as request bodies, made at the first use in a dialect.
        package var chunks: [Dialect: [PlanChunk]] = [:]
        /// Since when polls of a kind are expected to succeed; none: for as long as the agent runs.
        fileprivate(set) var expectedSince: [PollKind: Timestamp] = [:]

        /// Whether the identity has what polls of `kind` ask for; only those for starred projects need anything.
        package func hasStars(for kind: PollKind) -> Bool { kind != .starredProjects || !stars.isEmpty }

        /// Whether a poll of `kind` is expected to succeed: somebody is signed in, did not opt out of it, and has
        /// starred something if it asks for that. Only such a poll can be stale.
        package func expects(_ kind: PollKind) -> Bool {
            identity.did != nil && !optedOut.contains(kind) && hasStars(for: kind)
        }

        /// From when the age of a poll's data counts: its last success or else the agent's start, and not before it was
        /// expected to have any.
        func ageBegins(_ kind: PollKind, lastSuccess: Timestamp?, startedAt: Timestamp) -> Timestamp {
            let since = lastSuccess ?? startedAt
            return expectedSince[kind].map { max($0, since) } ?? since
        }

        fileprivate mutating func follow(_ former: Snapshot, now: Timestamp) {
            for kind in PollKind.allCases where expects(kind) {
                let isNew = former.identity != identity || !former.expects(kind)
                expectedSince[kind] = isNew ? now : former.expectedSince[kind]
            }
        }
    }

    private struct History {
        /// What was read last, whether or not it still holds.
        var former: Snapshot?
        /// When it was said to hold no more.
        var changedAt: Timestamp?
    }

    private let store: Store
    private let server: String
    private let isShared: Bool
    private let now: @Sendable () -> Timestamp
    private let cached = Mutex<Snapshot?>(nil)
    private let history = Mutex(History())
    /// Rises with every ``invalidate()``: what was read before one must not be kept after it.
    private let epoch = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - isShared: Whether someone else may change the database.
    ///   - now: The server's time, as well as it is known.
    package init(store: Store, server: String, isShared: Bool, now: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.server = server
        self.isShared = isShared
        self.now = now
    }

    /// The identity and its stars.
    package func current() async throws(StoreError) -> Snapshot {
        if !isShared, let snapshot = cached.withLock({ $0 }) { return snapshot }
        let epoch = epoch.load(ordering: .acquiring)
        var snapshot = Snapshot(identity: try await store.activeIdentity())
        if let did = snapshot.identity.did {
            let interests = try await store.interests(of: did)
            snapshot.interests = interests
            snapshot.optedOut = Self.optedOut(interests.preferences)
        }
        history.withLock { history in
            if let former = history.former { snapshot.follow(former, now: history.changedAt ?? now()) }
            history = History(former: snapshot)
        }
        cached.withLock { [snapshot] cached in
            if self.epoch.load(ordering: .acquiring) == epoch { cached = snapshot }
        }
        return snapshot
    }

    /// The stars of `snapshot` as request bodies.
    package func chunks(of snapshot: Snapshot, dialect: Dialect) -> [PlanChunk] {
        if let chunks = snapshot.chunks[dialect] { return chunks }
        let chunks = PlanChunk.split(snapshot.stars, dialect: dialect)
        cached.withLock { cached in
            if cached?.identity == snapshot.identity, cached?.stars == snapshot.stars {
                cached?.chunks[dialect] = chunks
            }
        }
        return chunks
    }

    /// Reads the flags of R-VAL-12 and C-209, under the kind's name in either spelling: a kind with a flag that is
    /// `false` is opted out; what is not there is on.
    private static func optedOut(_ json: String) -> Set<PollKind> {
        struct Flag: Decodable {
            let isOff: Bool

            init(from decoder: any Decoder) throws {
                isOff = (try? decoder.singleValueContainer().decode(Bool.self)) == false
            }
        }
        let flags = (try? JSONDecoder().decode([String: Flag].self, from: Data(json.utf8))) ?? [:]
        return Set(PollKind.allCases.filter { flags[$0.rawValue]?.isOff ?? flags[$0.preference]?.isOff ?? false })
    }

    /// Forgets what is cached: the identity or its stars were changed.
    package func invalidate() {
        history.withLock { $0.changedAt = now() }
        cached.withLock { cached in
            epoch.add(1, ordering: .releasing)
            cached = nil
        }
    }
}
