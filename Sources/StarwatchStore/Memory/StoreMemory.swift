import StarwatchCore
import Synchronization

/// The state of a store that any thread reads.
final class StoreMemory: Sendable {
    let polls = PollMemory()
    let snapshots = SnapshotMemory()
    let claims = ClaimMemory()
    let late = LateWrites()
    let permits: AccountPermits
    let file: OpenFile
    /// The number of rows and notifications set aside since the dispatcher last took it.
    let unreadable = Atomic(0)
    /// The number of transactions that changed or closed stored notifications for an operator.
    let renewals = Atomic(0)

    init(permits: AccountPermits, file: OpenFile) { (self.permits, self.file) = (permits, file) }

    /// Forgets what a write for an account can have changed; `nil` for a write for all accounts.
    func forget(_ account: DID?) {
        polls.forget(account)
        claims.forget(account)
    }
}

/// An account as a claim has read it, so that a visit without changes reads nothing.
struct ClaimedAccount: Sendable {
    let generation: Int
    let interests: Interests
    /// The stored window; `nil` if it was taken, or can have changed.
    var window: RequestWindow?
    /// Whether the remembered states of the account's streams have the times of its last cycles.
    var areTimesKnown = true
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

/// The accounts at work as their claims have read them, until a write can change them.
///
/// Written on the store's queue, in the order of the transactions; read from any thread.
final class ClaimMemory: Sendable {
    private let entries = Mutex<[DID: ClaimedAccount]>([:])

    subscript(account: DID) -> ClaimedAccount? { entries.withLock { $0[account] } }

    func remember(_ claimed: ClaimedAccount, of account: DID) { entries.withLock { $0[account] = claimed } }

    /// Returns an account's window once: the caller then counts its requests.
    func takeWindow(of account: DID) -> RequestWindow? { entries.withLock { $0[account]?.window.take() } }

    /// Notes that a cycle of the account has ended.
    func forgetTimes(of account: DID) {
        entries.withLock { entries in
            // An agent of one account claims none.
            guard !entries.isEmpty else { return }
            entries[account]?.areTimesKnown = false
        }
    }

    /// Forgets an account; `nil` for all accounts.
    func forget(_ account: DID?) {
        entries.withLock { entries in
            guard let account else { return entries.removeAll(keepingCapacity: true) }
            entries[account] = nil
        }
    }
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
