import StarwatchCore

/// The owners of leases as the database has them, to see whether a process sends for an account that is another's.
final class LeaseBook: Sendable {
    private struct State {
        /// The process of each owner.
        var processes: [String: Int] = [:]
        /// The stored form of each account, by its index.
        var forms: [Int: String] = [:]
        var database: RawDatabase?
    }

    /// How long before the end of its lease a process stops.
    private static let margin: Int64 = 10_000

    private let state = Confined(State())
    private let disk: SimulatedDisk
    private let clock: SimulatedClock
    /// The process as which it opens the database.
    private let reader: Int

    init(disk: SimulatedDisk, clock: SimulatedClock, reader: Int) {
        (self.disk, self.clock, self.reader) = (disk, clock, reader)
    }

    /// The present database, which a crash of all processes replaces.
    var database: RawDatabase? {
        let path = disk.path(of: reader)
        if state.value.database?.path != path { state.value.database = RawDatabase(at: path) }
        return state.value.database
    }

    /// Closes its connection, so that a process that ends can be the last one.
    func close() { state.value.database = nil }

    private func rows(_ sql: String, _ argument: String? = nil) -> [String] { database?.rows(sql, argument) ?? [] }

    /// Notes that a process has changed leases: an owner that is new is its.
    func noteChange(by process: Int) {
        for owner in rows("SELECT DISTINCT owner FROM leases WHERE owner IS NOT NULL")
        where state.value.processes[owner] == nil { state.value.processes[owner] = process }
    }

    /// Notes the account that was added last.
    func noteAddition(of account: Int) {
        let known = Set(state.value.forms.values)
        guard state.value.forms[account] == nil else { return }
        state.value.forms[account] = rows("SELECT account FROM accounts").first { !known.contains($0) }
    }

    /// The epochs of all leases, by the stored forms of their accounts.
    func epochs() -> [String: Int] { epochs { _ in true } }

    /// The epochs of the leases that a process has.
    func epochs(of process: Int) -> [String: Int] { epochs { state.value.processes[$0] == process } }

    private func epochs(ofOwners isMeant: (String) -> Bool) -> [String: Int] {
        let leases = rows("SELECT account, epoch, owner FROM leases").map { $0.split(separator: "|").map(String.init) }
        return Dictionary(
            uniqueKeysWithValues: leases.filter { isMeant($0[2]) }.map { ($0[0], Int($0[1]) ?? 0) }
        )
    }

    /// Says why a process must not send for an account; `nil` if it can.
    func objection(to process: Int, for account: Int) -> String? {
        guard let form = state.value.forms[account],
            let row = rows("SELECT coalesce(owner, ''), due_at FROM leases WHERE account = ?1", form).first
        else { return nil }
        let columns = row.split(separator: "|", omittingEmptySubsequences: false)
        // Another process can have taken the account over and released it: visits are short.
        guard !columns[0].isEmpty else { return "its lease is released" }
        guard state.value.processes[String(columns[0])] == process else { return "another process has its lease" }
        let rest = (Int64(columns[1]) ?? 0) - clock.now.milliseconds
        // The clocks have whole milliseconds.
        return rest < Self.margin - 2 ? "its lease ends in \(rest) ms" : nil
    }
}
