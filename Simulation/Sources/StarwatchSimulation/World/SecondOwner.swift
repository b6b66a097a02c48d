import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTransport

/// Another process on the same database, which takes accounts over and does nothing for them.
final class SecondOwner {
    private let store: Store
    private let database: RawDatabase
    private var leases: [AccountLease] = []
    private var rows: LeasedRows?
    private let name = "other-" + RandomID.uuid()

    /// The number of accounts that it took over.
    var accounts: Int { leases.count }

    /// - Returns: `nil` if the database cannot be opened.
    init?(at path: String, random: @escaping @Sendable () -> [UInt8]) {
        var options = StoreOptions(path: path)
        options.queue = Lane()
        options.masterKey = Simulation.masterKey
        options.newKey = random
        guard let store = try? Store(options), let database = RawDatabase(at: path) else { return nil }
        (self.store, self.database) = (store, database)
    }

    /// Claims the accounts whose leases have ended.
    ///
    /// - Parameter hidden: Whether the former owners still seem to have their leases.
    func claim(at now: Timestamp, for length: Duration, hidden: Bool) async {
        let query = "SELECT account, owner, epoch, due_at FROM leases WHERE owner IS NOT NULL"
        let former = hidden ? database.rows(query) : []
        let claimed = try? await store.accounts.claim(
            limit: 1000,
            owner: name,
            now: now,
            until: now + length,
            for: LeaseTerm(from: .zero)
        )
        leases = claimed?.leases ?? []
        rows = LeasedRows(
            in: database,
            of: Set(database.rows("SELECT account FROM leases WHERE owner = ?1", name))
        )
        guard hidden else { return }
        for row in former.map({ $0.split(separator: "|").map(String.init) }) where row.count == 4 {
            let change = "UPDATE leases SET owner = '\(row[1])', epoch = \(row[2]) WHERE account = '\(row[0])'"
            database.rows(change)
        }
    }

    /// A row of these accounts that was added or changed since the claim; `nil` if none was.
    func changedRow() -> String? { rows?.changed() }

    /// - Parameter limits: Those of the agents; `nil` releases nothing.
    func end(releasing limits: GateLimits?, at now: Timestamp) async {
        if let limits {
            // As every visit, it leaves behind the requests that an interrupted one can have sent.
            let gate = Gate(server: "other", limits: limits, store: store)
            for lease in leases {
                await gate.enter(lease.account).endVisit(isInterrupted: !lease.wasReleased, now: now)
            }
            _ = try? await store.accounts.release(leases.map { LeaseEnd($0, next: now) })
        }
        await store.close()
    }
}
