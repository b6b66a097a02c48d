/// What to simulate: with the same plan the same happens.
package struct SimulationPlan: Sendable, Hashable {
    package var seed: UInt64
    /// About how many poll cycles to run before everything is made well.
    package var cycles = 300
    /// Faults that do not happen, whatever the seed says.
    package var without: Set<FaultKind> = []
    /// The most faults that happen.
    package var limit = Int.max
    package var defect = Defect.none

    package init(seed: UInt64) {
        self.seed = seed
    }

    /// The arguments with which the command runs it again.
    package var arguments: String {
        var text = "--seed \(seed) --cycles \(cycles)"
        if limit < Int.max { text += " --limit \(limit)" }
        if !without.isEmpty { text += " --without " + without.map(\.name).sorted().joined(separator: ",") }
        if defect != .none { text += " --defect \(defect.rawValue)" }
        return text
    }
}

/// How a simulation went.
package struct SimulationResult: Sendable {
    package let plan: SimulationPlan
    /// The same for the same plan, in every process.
    package let hash: UInt64
    package let violations: [Violation]
    /// Poll cycles that reached the server.
    package let cycles: Int
    package let steps: Int
    package let simulatedSeconds: Double
    package let faults: [FaultKind: Int]
    /// How often an agent was started.
    package let starts: Int
    /// The last of what happened.
    package let lines: [String]
}
