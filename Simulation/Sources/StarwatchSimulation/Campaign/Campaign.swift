/// Totals over many runs.
package struct Campaign: Sendable {
    package private(set) var runs = 0
    package private(set) var cycles = 0
    package private(set) var steps = 0
    package private(set) var starts = 0
    package private(set) var simulatedSeconds = 0.0
    package private(set) var faults: [FaultKind: Int] = [:]
    /// Runs that broke a guarantee.
    package private(set) var failures: [SimulationResult] = []

    package init() {}

    /// Counts a run.
    package mutating func add(_ result: SimulationResult) {
        runs += 1
        cycles += result.cycles
        steps += result.steps
        starts += result.starts
        simulatedSeconds += result.simulatedSeconds
        faults.merge(result.faults, uniquingKeysWith: +)
        if !result.violations.isEmpty { failures.append(result) }
    }

    /// Summary for a person.
    ///
    /// - Parameters:
    ///   - duration: Elapsed time.
    ///   - processor: CPU time.
    package func summary(took duration: Duration, processor: Duration) -> String {
        func rate(_ duration: Duration) -> Int { Int(Double(cycles) / max(duration / .seconds(60), 1e-6)) }
        var text = """
            \(runs) runs, \(cycles) poll cycles, \(Int(simulatedSeconds / 3600)) simulated hours, \(starts) agents, \
            \(steps) steps; \(rate(duration)) cycles a minute, \(rate(processor)) a minute of one core
            faults:
            """
        for kind in FaultKind.allCases { text += " \(kind.name)=\(faults[kind] ?? 0)" }
        return text + "\nbroken guarantees: \(failures.count)"
    }
}
