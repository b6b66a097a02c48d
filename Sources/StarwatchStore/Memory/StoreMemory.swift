import StarwatchCore
import Synchronization

/// The state of a store that any thread reads.
final class StoreMemory: Sendable {
    let polls = PollMemory()
    let snapshots = SnapshotMemory()
    let claims = ClaimMemory()
    let late = LateWrites()
    /// The number of rows and notifications set aside since the dispatcher last took it.
    let unreadable = Atomic(0)
    /// The number of transactions that changed or closed stored notifications for an operator.
    let renewals = Atomic(0)

    /// Forgets what a write for an account can have changed; `nil` for a write for all accounts.
    func forget(_ account: DID?) {
        polls.forget(account)
        claims.forget(account)
    }
}
