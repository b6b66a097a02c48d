import StarwatchCore

/// The memory of an account, beside its rows.
///
/// A claim begins it, so that a visit without changes reads nothing, and the release of the lease ends it. That of an account
/// without a lease begins with its first use.
struct AccountMemory: Sendable {
    /// A stream, as far as it is known.
    private struct Stream {
        let key: StreamKey
        /// The row id. Only writes for all accounts delete rows of `streams`, such as retention and erasures, and they forget it.
        ///
        /// Without it each step of a change begins a transaction more, and an unchanged cycle takes 4 % more instructions
        /// (`Benchmarks/poll cycles` under callgrind).
        var id: Int64?
        /// The last read state, valid until a write can change it.
        ///
        /// Without it an unchanged cycle takes 58 % more instructions (`Benchmarks/poll cycles` under callgrind).
        var state: PollState?
        /// The limit that the state is for.
        var maxUndelivered = 0
    }

    /// A lease with the time for which it lets this process send.
    private struct Hold {
        let lease: AccountLease
        var term: LeaseTerm
        /// Whether requests from before the lease, of an interrupted owner or from before the account was added, still wait to be
        /// counted.
        var hasUncounted: Bool
    }

    /// The few streams of the account.
    private var streams: [Stream] = []
    private var hold: Hold?
    /// The account as the claim has read it, until a write can change it.
    private(set) var claimed: AccountClaim?
    /// Whether the account waits to be handed out.
    private(set) var isLeaving = false
    /// The number of notifications that a sink has now.
    private var attempts = 0

    /// The lease that was claimed here and not released; `nil` if there is none.
    var lease: AccountLease? { hold?.lease }

    /// The lease, unless its term began after another one, which would then shorten it.
    func lease(toRenewFor term: LeaseTerm) -> AccountLease? {
        hold.flatMap { $0.term.began(after: term) ? nil : $0.lease }
    }

    /// Whether there is nothing to remember.
    var isEmpty: Bool { streams.isEmpty && hold == nil && claimed == nil && !isLeaving && attempts == 0 }

    // MARK: - Streams

    private mutating func change(_ key: StreamKey, _ change: (inout Stream) -> Void) {
        if let index = streams.firstIndex(where: { $0.key == key }) { return change(&streams[index]) }
        var stream = Stream(key: key)
        change(&stream)
        streams.append(stream)
    }

    mutating func remember(_ id: Int64, of stream: StreamKey) { change(stream) { $0.id = id } }

    mutating func remember(_ state: PollState, of stream: StreamKey, maxUndelivered: Int) {
        change(stream) { ($0.state, $0.maxUndelivered) = (state, maxUndelivered) }
    }

    func id(of stream: StreamKey) -> Int64? { streams.first { $0.key == stream }?.id }

    func state(of stream: StreamKey, maxUndelivered: Int) -> PollState? {
        streams.first { $0.key == stream && $0.maxUndelivered == maxUndelivered }?.state
    }

    /// Forgets what a write for the account can have changed.
    mutating func forgetStates() {
        for index in streams.indices { streams[index].state = nil }
        claimed = nil
    }

    mutating func forgetIDs() { for index in streams.indices { streams[index].id = nil } }

    // MARK: - Lease

    /// Begins a lease. Another owner can have changed the account since it was known here.
    ///
    /// - Parameter maxUndelivered: The limit that the states of the claim are for.
    mutating func begin(_ claim: AccountClaim, for term: LeaseTerm, maxUndelivered: Int) {
        hold = Hold(lease: claim.lease, term: term, hasUncounted: claim.window.map { $0.uncounted > 0 } ?? false)
        streams = claim.streams.map { Stream(key: $0.key, id: $0.id, state: $0.state, maxUndelivered: maxUndelivered) }
        claimed = claim
        claimed?.streams = []
    }

    /// Begins a new term of a lease that is held.
    mutating func renew(_ lease: AccountLease, for term: LeaseTerm) { if hold?.lease == lease { hold?.term = term } }

    mutating func end(_ lease: AccountLease) { if hold?.lease == lease { hold = nil } }

    /// Ends what a visit, or an operator's work without a lease, knew.
    mutating func rest() { if hold == nil { (streams, claimed) = ([], nil) } }

    /// Notes that a cycle has ended.
    mutating func forgetTimes() { claimed?.areTimesKnown = false }

    /// Returns the window with which a visit begins once: the caller then counts its requests.
    mutating func takeWindow() -> RequestWindow? { claimed?.window.take() }

    /// Returns once whether requests from before the lease can be uncounted. The caller then counts them.
    ///
    /// - Returns: `nil` if no lease is held.
    mutating func takeUncounted() -> Bool? {
        defer { hold?.hasUncounted = false }
        return hold?.hasUncounted
    }

    /// Whether a request can be sent: not if the lease can have been lost. An account without a lease is this process's alone.
    func canAsk(at boottime: Duration) -> Bool { hold?.term.isOver(at: boottime) != true }

    // MARK: - Notifications

    mutating func beginAttempt(at boottime: Duration) -> AttemptPermit {
        guard canAsk(at: boottime) else { return .lost }
        guard !isLeaving else { return .leaving }
        attempts += 1
        return .given
    }

    mutating func endAttempt() { attempts = max(0, attempts - 1) }

    /// Lets no further attempt begin.
    ///
    /// - Returns: Whether no sink has a notification now.
    mutating func leave() -> Bool {
        isLeaving = true
        return attempts == 0
    }

    /// Ends ``leave()``.
    mutating func stay() { isLeaving = false }
}

/// An account as a claim has read it, with what its visit needs.
struct AccountClaim: Sendable {
    /// The lease, with the epoch that the claim gives it.
    let lease: AccountLease
    let interests: Interests
    /// The stored window; `nil` if it was taken, or can have changed.
    var window: RequestWindow?
    /// The account's streams; empty in its memory, which has them apart.
    var streams: [KnownStream] = []
    /// Whether the remembered states of the account's streams have the times of its last cycles.
    var areTimesKnown = true
}

/// Whether a notification of an account can be handed to a sink.
package enum AttemptPermit: Sendable, Hashable {
    /// The caller ends the attempt by ``StoreDeliveries/endAttempt(for:)``, after its result is stored.
    case given
    /// The account leaves for another agent, or will stay after all.
    case leaving
    /// The account's lease was claimed here and can have been lost. Another process can work for it.
    case lost
}

/// The request window with which a visit begins.
package struct RequestWindow: Sendable, Hashable {
    /// The stored window; `nil` if there is none.
    package let stored: [UInt8]?
    /// The number of requests that can go without a write, because a lease that is not released counts them.
    package let reserved: Int
    /// The number of requests that can have gone before and are not stored: those of an interrupted lease, or of a visit from
    /// before the account was added.
    package let uncounted: Int
}

/// An account's interests: its stars and its preferences.
package struct Interests: Sendable {
    /// The starred plans in the order of starring; empty for an unknown account, and if they are unreadable.
    package let stars: [String]
    /// Whether the stored stars do not open, or are no list of texts. Nobody but a change of the stars overwrites them.
    package let areStarsUnreadable: Bool
    /// `notificationPreferences`, a JSON object; `"{}"` if none are stored.
    package let preferences: String
    /// ``stars`` in their stored form, which is cheaper to compare. A rotation of the data keys changes it.
    let storedStars: String?
}

/// Interests are equal if they mean the same, whatever key their stars are encrypted with.
extension Interests: Hashable {
    package static func == (left: Interests, right: Interests) -> Bool {
        left.stars == right.stars && left.areStarsUnreadable == right.areStarsUnreadable
            && left.preferences == right.preferences
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(stars)
        hasher.combine(preferences)
    }
}
