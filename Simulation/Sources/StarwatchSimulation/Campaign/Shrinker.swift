/// Reduces a run that breaks a guarantee: fewer cycles, fewer kinds of fault, fewer faults.
package struct Shrinker {
    private let run: (SimulationPlan) async throws -> SimulationResult
    private let report: (SimulationPlan) -> Void

    /// - Parameters:
    ///   - run: Runs a plan.
    ///   - report: Called with every smaller plan that still fails.
    package init(
        run: @escaping (SimulationPlan) async throws -> SimulationResult = { try await Simulation.run($0) },
        report: @escaping (SimulationPlan) -> Void = { _ in }
    ) {
        self.run = run
        self.report = report
    }

    /// Returns the smallest plan found that still breaks `guarantee`, as `plan` does.
    package func shrink(_ plan: SimulationPlan, breaking guarantee: Guarantee) async throws -> SimulationPlan {
        var best = plan
        func fails(_ candidate: SimulationPlan) async throws -> Bool {
            let violations = try await run(candidate).violations
            guard violations.contains(where: { $0.guarantee == guarantee }) else { return false }
            best = candidate
            report(candidate)
            return true
        }
        var isSmaller = true
        while isSmaller {
            isSmaller = false
            while best.cycles > 1 {
                var shorter = best
                shorter.cycles /= 2
                guard try await fails(shorter) else { break }
                isSmaller = true
            }
            for kind in FaultKind.allCases where !best.without.contains(kind) {
                var calmer = best
                calmer.without.insert(kind)
                let counts = try await run(best).faults
                if counts[kind] == nil {
                    // It never happened, so nothing changes.
                    best = calmer
                } else if try await fails(calmer) {
                    isSmaller = true
                }
            }
            let total = try await run(best).faults.values.reduce(0, +)
            var (low, high) = (0, min(best.limit, total))
            while low < high {
                var fewer = best
                fewer.limit = (low + high) / 2
                if try await fails(fewer) {
                    high = fewer.limit
                    isSmaller = true
                } else {
                    low = fewer.limit + 1
                }
            }
        }
        return best
    }
}
