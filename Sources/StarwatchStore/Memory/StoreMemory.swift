import Synchronization

/// The state of a store that any thread reads.
final class StoreMemory: Sendable {
    let accounts: AccountMemories
    let snapshots = SnapshotMemory()
    let file: OpenFile
    /// The number of rows and notifications set aside since the dispatcher last took it.
    let unreadable = Atomic(0)
    /// The number of transactions that changed or closed stored notifications for an operator.
    let renewals = Atomic(0)

    init(accounts: AccountMemories, file: OpenFile) { (self.accounts, self.file) = (accounts, file) }
}
