import StarwatchCore

/// The circuits of a sink by host or file: one without a name if all accounts share it.
struct SinkHosts {
    /// The largest number of hosts. Beyond it, one that works is forgotten, or else the one that is down for longest.
    static let limit = 1000

    let areOfAccounts: Bool
    private(set) var circuits: [String: SinkCircuit] = [:]
    /// The waits that the addresses of accounts asked for. Later notifications for them wait too.
    private var waits: [DID: (address: SinkAddress, until: Timestamp)] = [:]

    init(areOfAccounts: Bool) { self.areOfAccounts = areOfAccounts }

    init(after former: SinkHosts) {
        areOfAccounts = former.areOfAccounts
        circuits = former.circuits.mapValues(SinkCircuit.init(after:))
        waits = former.waits
    }

    subscript(host: String) -> SinkCircuit {
        get { circuits[host] ?? SinkCircuit(isOfOneAddress: !areOfAccounts) }
        set {
            if circuits[host] == nil, circuits.count >= Self.limit { forgetOne() }
            circuits[host] = newValue
        }
    }

    /// The end of the wait of an account's address; `nil` if it has none. A clock that was set back does not prolong it.
    func wait(of account: DID, at address: SinkAddress, now: Timestamp) -> Timestamp? {
        guard let wait = waits[account], wait.address == address, wait.until > now else { return nil }
        return min(wait.until, now + SinkCircuit.longestReceiverWait)
    }

    /// Keeps the wait of an account's address. Beyond ``limit``, only the notification that was answered waits.
    mutating func keepWait(of account: DID, at address: SinkAddress, until: Timestamp, now: Timestamp) {
        if waits.count >= Self.limit { waits = waits.filter { $0.value.until > now } }
        if waits.count < Self.limit { waits[account] = (address, until) }
    }

    /// Ends the wait of a host, and that of an account's address.
    ///
    /// - Returns: The end of the longer one; `nil` if there was none.
    mutating func clearWaits(of host: String, _ account: DID?, at address: SinkAddress?) -> Timestamp? {
        let own = account.flatMap { waits[$0]?.address == address ? waits.removeValue(forKey: $0)?.until : nil }
        return [circuits[host]?.clearWait() ?? nil, own].compactMap(\.self).max()
    }

    private mutating func forgetOne() {
        func rank(_ circuit: SinkCircuit) -> Timestamp { circuit.downSince ?? Timestamp(milliseconds: 0) }
        if let host = circuits.min(by: { rank($0.value) < rank($1.value) })?.key { circuits[host] = nil }
    }

    /// The circuit that stands for the sink: of several hosts one that works, or else the one that is down for longest.
    var whole: SinkCircuit {
        guard areOfAccounts else { return self[""] }
        let none = SinkCircuit(isOfOneAddress: false)
        guard circuits.values.allSatisfy({ $0.condition != .working }) else { return none }
        return circuits.values.min {
            ($0.downSince ?? Timestamp(milliseconds: 0)) < ($1.downSince ?? Timestamp(milliseconds: 0))
        } ?? none
    }

    var lastSuccess: Timestamp? { circuits.values.compactMap(\.lastSuccess).max() }

    var down: Int { circuits.values.count { $0.state != .closed } }
}
