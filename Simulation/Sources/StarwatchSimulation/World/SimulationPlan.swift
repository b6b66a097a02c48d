/// Parameters of a run; equal plans give identical runs.
package struct SimulationPlan: Sendable, Hashable {
    package var seed: UInt64
    /// Approximate number of poll cycles before all faults end.
    package var cycles = 300
    /// Excluded kinds of fault.
    package var without: Set<FaultKind> = []
    /// Maximum number of faults.
    package var limit = Int.max
    package var defect = Defect.none
    /// Number of accounts that one agent serves; 0 for an agent with an active identity.
    package var accounts = 0
    /// Number of processes that share the accounts.
    package var stores = 1

    package init(seed: UInt64) {
        self.seed = seed
    }

    /// Arguments of the `replay` command for this plan.
    package var arguments: String {
        var text = "--seed \(seed) --cycles \(cycles)"
        if accounts > 0 { text += " --accounts \(accounts)" }
        if stores > 1 { text += " --stores \(stores)" }
        if limit < Int.max { text += " --limit \(limit)" }
        if !without.isEmpty { text += " --without " + without.map(\.name).sorted().joined(separator: ",") }
        if defect != .none { text += " --defect \(defect.rawValue)" }
        return text
    }
}

/// Outcome of a run.
package struct SimulationResult: Sendable {
    package let plan: SimulationPlan
    /// Hash of all events; equal for equal plans in every process.
    package let hash: UInt64
    package let violations: [Violation]
    /// Poll cycles that reached the server.
    package let cycles: Int
    package let steps: Int
    package let simulatedSeconds: Double
    package let faults: [FaultKind: Int]
    /// Number of agents that were started.
    package let starts: Int
    /// Last lines of the trace.
    package let lines: [String]
}
