import StarwatchCore

/// The circuits of a sink by host: one without a name if the configuration has the address.
struct SinkHosts {
    /// The largest number of hosts. Beyond it, one that works is forgotten, or else the one that is down for longest.
    static let limit = 1000

    let areOfAccounts: Bool
    private var circuits: [String: SinkCircuit] = [:]

    init(areOfAccounts: Bool) { self.areOfAccounts = areOfAccounts }

    init(after former: SinkHosts) {
        areOfAccounts = former.areOfAccounts
        circuits = former.circuits.mapValues(SinkCircuit.init(after:))
    }

    var count: Int { circuits.count }

    subscript(host: String) -> SinkCircuit {
        get { circuits[host] ?? SinkCircuit(isOfOneAddress: !areOfAccounts) }
        set {
            if circuits[host] == nil, circuits.count >= Self.limit { forgetOne() }
            circuits[host] = newValue
        }
    }

    mutating func clearWaits() -> Timestamp? {
        circuits.keys.compactMap { circuits[$0]?.clearWait() ?? nil }.max()
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
