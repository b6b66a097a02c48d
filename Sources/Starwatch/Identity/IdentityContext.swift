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
        package var stars: [String] = []
        /// The kinds of poll that the account's preferences switch off.
        package var optedOut: Set<PollKind> = []
        /// The stars as request bodies, made at the first use in a dialect.
        package var chunks: [Dialect: [PlanChunk]] = [:]
    }

    private let store: Store
    private let server: String
    private let isShared: Bool
    private let cached = Mutex<Snapshot?>(nil)
    /// Rises with every ``invalidate()``: what was read before one must not be kept after it.
    private let epoch = Atomic<UInt64>(0)

    /// - Parameter isShared: Whether someone else may change the database.
    package init(store: Store, server: String, isShared: Bool) {
        self.store = store
        self.server = server
        self.isShared = isShared
    }

    /// The identity and its stars.
    package func current() async throws(StoreError) -> Snapshot {
        if !isShared, let snapshot = cached.withLock({ $0 }) { return snapshot }
        let epoch = epoch.load(ordering: .acquiring)
        var snapshot = Snapshot(identity: try await store.activeIdentity())
        if let did = snapshot.identity.did {
            snapshot.stars = try await store.stars(of: did)
            snapshot.optedOut = Self.optedOut(try await store.notificationPreferences(of: did))
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
        cached.withLock { cached in
            epoch.add(1, ordering: .releasing)
            cached = nil
        }
    }
}
