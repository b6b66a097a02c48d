package import Logging
package import StarwatchCore
package import StarwatchStore
import Synchronization

/// The active identity and its stars, kept in memory so that an unchanged cycle does not read and encode them again.
///
/// Without the cache an unchanged cycle takes 3.8 times as many instructions, without the encoded stars 1.6 times
/// (`Benchmarks/poll cycles` under callgrind). A host application that owns the database can change them at any time,
/// so a shared database is read every time.
package final class IdentityContext: Sendable {
    /// The identity data that a cycle needs.
    package final class Snapshot: Sendable {
        package let identity: ActiveIdentity
        package let interests: Interests?
        package var stars: [String] { interests?.stars ?? [] }
        /// The kinds of poll that the account's preferences switch off.
        private let optedOut: Set<PollKind>
        /// The polls that the account wants; `nil` for all.
        private let wanted: [PollName]?
        /// The kinds of poll that can succeed: an account is signed in, and has what they need.
        private let expected: Set<PollKind>
        /// Start of the time in which polls of a kind are expected to succeed; no entry means since the agent's start.
        private let expectedSince: [PollKind: Timestamp]
        /// The stars as parts of requests, created at the first use of each form.
        private let parts = Mutex<[Dialect: [PollKind.PlanForm: [PlanChunk]]]>([:])

        /// - Parameters:
        ///   - namesPolls: Whether the account's preferences can name polls.
        ///   - former: The snapshot before.
        ///   - now: The time of the change since then.
        fileprivate init(
            _ identity: ActiveIdentity,
            _ interests: Interests?,
            namesPolls: Bool,
            after former: Snapshot?,
            now: Timestamp
        ) {
            (self.identity, self.interests) = (identity, interests)
            let optedOut = interests.map { WantedPolls.optedOut($0.preferences) } ?? []
            self.optedOut = optedOut
            wanted = namesPolls ? interests.flatMap { WantedPolls.read($0.preferences) } : nil
            let hasStars = interests.map { !$0.stars.isEmpty } ?? false
            let expected = Set(
                PollKind.allCases.filter { kind in
                    identity.did != nil && !optedOut.contains(kind) && (!kind.needsStars || hasStars)
                }
            )
            self.expected = expected
            var since: [PollKind: Timestamp] = [:]
            if let former {
                for kind in expected {
                    let isNew = former.identity != identity || !former.expected.contains(kind)
                    since[kind] = isNew ? now : former.expectedSince[kind]
                }
            }
            expectedSince = since
        }

        /// Returns `true` if polls ask for the same as with another snapshot. A host's database is read again for each cycle.
        func asksAs(_ other: Snapshot) -> Bool {
            self === other || identity == other.identity && interests == other.interests
        }

        /// Returns `true` if the identity has what polls of `kind` need. ``PollKind/needsStars`` says which need stars.
        package func hasStars(for kind: PollKind) -> Bool { !kind.needsStars || !stars.isEmpty }

        /// Returns `true` if the poll is switched off, by the configuration or by the account's preferences.
        package func isOff(_ poll: PollOptions) -> Bool {
            !poll.isEnabled || !WantedPolls.has(poll.name, of: poll.kind, optedOut: optedOut, wanted: wanted)
        }

        /// Returns `true` if the poll is expected to succeed: it is on, an account is signed in, and has starred something
        /// if the poll needs stars. Only such a poll can be stale.
        package func expects(_ poll: PollOptions) -> Bool { !isOff(poll) && expected.contains(poll.kind) }

        /// Start of the age of a poll's data: its last success or else the agent's start, but not before the poll was
        /// expected to succeed.
        func ageBegins(_ kind: PollKind, lastSuccess: Timestamp?, startedAt: Timestamp) -> Timestamp {
            let since = lastSuccess ?? startedAt
            return expectedSince[kind].map { max($0, since) } ?? since
        }

        /// Returns the stars in parts that fit into a request of a poll of `kind`.
        package func chunks(for kind: PollKind = .starredProjects, dialect: Dialect) -> [PlanChunk] {
            parts.withLock { parts in
                if let known = parts[dialect]?[kind.planForm] { return known }
                let made = PlanChunk.split(stars, dialect: dialect, form: kind.planForm)
                parts[dialect, default: [:]][kind.planForm] = made
                return made
            }
        }

        /// The number of chunks of each form that was asked for.
        var chunkCounts: [Int] { parts.withLock { $0.values.flatMap(\.values).map(\.count) } }
    }

    /// The last snapshot read, valid or not, the time of the last invalidation, and whether the stars were unreadable at the last
    /// reading.
    private typealias History = (former: Snapshot?, changedAt: Timestamp?, areStarsUnreadable: Bool)

    private let store: Store
    /// The account whose identity it is; `nil`: the active identity.
    let served: DID?
    private let isShared: Bool
    private let now: @Sendable () -> Timestamp
    private let logger: Logger
    private let cached = Mutex<Snapshot?>(nil)
    private let history = Mutex<History>((nil, nil, false))
    /// Counter of ``invalidate()`` calls. A snapshot read before a call must not be cached after it.
    private let epoch = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - served: One of many accounts; `nil`: the active identity.
    ///   - isShared: `true` if another program can change the database.
    ///   - now: The local time.
    package init(
        store: Store,
        served: DID? = nil,
        isShared: Bool,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp
    ) {
        (self.store, self.served, self.isShared, self.logger) = (store, served, isShared, logger)
        self.now = now
    }

    /// Returns the identity and its stars.
    package func current() async throws(StoreError) -> Snapshot {
        if !isShared, let snapshot = cached.withLock({ $0 }) { return snapshot }
        let epoch = epoch.load(ordering: .acquiring)
        let identity = try await stored()
        var interests: Interests?
        if let did = identity.did { interests = try await store.stars.interests(of: did) }
        let areUnreadable = interests?.areStarsUnreadable ?? false
        let (snapshot, isNews) = history.withLock { [interests] history in
            let snapshot = Snapshot(
                identity,
                interests,
                // The only identity of a process has no command that changes it. It can have come from a process of many.
                namesPolls: served != nil,
                after: history.former,
                now: history.changedAt ?? now()
            )
            let isNews = areUnreadable && !history.areStarsUnreadable
            history = (snapshot, nil, areUnreadable)
            return (snapshot, isNews)
        }
        if isNews { logger.log(.starsUnreadable) }
        cached.withLock { cached in
            if self.epoch.load(ordering: .acquiring) == epoch { cached = snapshot }
        }
        return snapshot
    }

    /// Returns the identity as the database has it now.
    package func stored() async throws(StoreError) -> ActiveIdentity {
        if let served { return try await store.identity.active(of: served) }
        return try await store.identity.active()
    }

    /// Returns the account that is meant, also one that is paused; `nil` if nobody is signed in.
    func owner() async throws(StoreError) -> DID? {
        if let served { return served }
        return try await store.identity.active().did
    }

    /// Returns the identity's DID as the database has it now.
    ///
    /// - Throws: ``ControlError`` if there is none.
    func signedIn() async throws -> DID {
        if let did = try await stored().did { return did }
        throw ControlError(
            .conflict,
            served == nil
                ? "No identity is active; set one with starwatch identity set DID, or name one of many accounts with --account."
                : "That account is paused or not known; see starwatch accounts list."
        )
    }

    /// Clears the cache because the identity or its stars changed.
    package func invalidate() {
        history.withLock { $0.changedAt = now() }
        cached.withLock { cached in
            epoch.add(1, ordering: .releasing)
            cached = nil
        }
    }
}
