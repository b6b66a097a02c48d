import FoundationEssentials
import StarwatchCore

/// The state that the accesses of one store share. Only the store's queue uses it.
final class SessionContext {
    let options: StoreOptions
    let vault: Vault
    /// The damage that a check has found; `nil` for none.
    var damage: StoreError?
    /// The pass that encrypts values of retiring keys again; `nil` if it has not begun.
    var resealPass: ResealPass?
    /// The retiring keys of values that do not open. No pass begins for them again before a restart.
    var stuckKeys: Set<Int64> = []
    /// The rows and notifications that the current access has set aside because they do not open.
    var unreadable = 0
    /// The number of rows that this connection has changed. If a call does not change it, cached reads stay valid.
    var changedRows = 0
    /// The snapshots of the page that was stored last; `nil` if a row has changed since then.
    private(set) var snapshots: (stream: StreamKey, plans: [String: PlanSnapshot?])?
    private var snapshotsAt = 0
    /// The name of this start of the process, under which it keeps its totals.
    let start: String
    /// The memory of the accounts at work.
    let accounts = AccountMemories()
    /// Whether the totals of former starts are one row.
    var hasMergedTotals = false
    private var changes: [OutboxChange: Int] = [:]

    init(_ options: StoreOptions) {
        (self.options, vault) = (options, Vault(newKey: options.newKey, now: options.now))
        start = Data(options.newKey().prefix(12)).base64EncodedString()
    }

    /// Whether a data key is retiring, except those of values that do not open.
    var mustReseal: Bool { vault.ring.map { !$0.retiring.isSubset(of: stuckKeys) } ?? false }

    /// - Parameter changes: The number of changed rows.
    func keep(_ plans: [String: PlanSnapshot?], of stream: StreamKey, at changes: Int) {
        (snapshots, snapshotsAt) = ((stream, plans), changes)
    }

    func forgetOutdatedSnapshots() { if snapshotsAt != changedRows { snapshots = nil } }

    /// Counts a change of outbox rows. ``StoreObserver/changed(_:)`` reports it after the commit.
    func record(_ change: OutboxChange, _ count: Int) { if count > 0 { changes[change, default: 0] += count } }

    /// Reports what the access has changed.
    ///
    /// - Returns: The number of rows and notifications that it has set aside.
    func committed() -> Int {
        if !changes.isEmpty {
            options.observer?.changed(changes)
            changes.removeAll(keepingCapacity: true)
        }
        defer { unreadable = 0 }
        return unreadable
    }

    /// Forgets what the access has not changed.
    func failed() {
        vault.failed()
        snapshots = nil
        resealPass = nil
        hasMergedTotals = false
        changes.removeAll(keepingCapacity: true)
        unreadable = 0
    }
}

/// The last seen state of a plan.
struct PlanSnapshot {
    /// The change that brought it.
    let jwt: JWTID
    /// `nil` if the stored text is of another form.
    let details: PlanDetails?
    /// Whether it is not stored yet.
    var isNew = false
}
