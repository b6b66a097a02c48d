import ArgumentParser
import Glibc
import StarwatchSimulation

/// Runs the agent in simulated worlds, and looks whether it keeps its promises.
@main
struct SimulationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "starwatch-simulation",
        abstract: "Runs the agent in simulated worlds where everything fails, and checks its promises.",
        subcommands: [SoakCommand.self, ReplayCommand.self],
        defaultSubcommand: SoakCommand.self
    )
}

/// Runs one seed after the other.
struct SoakCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract: "Runs one seed after the other; the first that breaks a promise is made small and printed."
    )

    @Option(help: "For how long.")
    var minutes = 1.0

    @Option(help: "The first seed; by default another each time.")
    var seed: UInt64?

    @Option(help: "About how many poll cycles a run has.")
    var cycles = 300

    @Option(help: "At most so many runs.")
    var runs = Int.max

    @Flag(help: "Go on after a broken promise.")
    var keepGoing = false

    func run() async throws {
        var plan = SimulationPlan(seed: seed ?? .random(in: 0..<1_000_000_000))
        plan.cycles = cycles
        print("soak: simulation from seed \(plan.seed)")
        var campaign = Campaign()
        let clock = ContinuousClock()
        let start = clock.now
        while clock.now - start < .seconds(minutes * 60), campaign.runs < runs, keepGoing || campaign.failures.isEmpty {
            let result = try await Simulation.run(plan)
            campaign.add(result)
            if let violation = result.violations.first { print("seed \(plan.seed): \(violation)") }
            plan.seed += 1
        }
        print(
            campaign.summary(
                took: clock.now - start,
                processor: .seconds(Double(Glibc.clock()) / Double(CLOCKS_PER_SEC))
            )
        )
        guard let failure = campaign.failures.first, let violation = failure.violations.first else { return }
        print("To see it again:\n  scripts/soak replay \(failure.plan.arguments)")
        let small = try await Shrinker().shrink(failure.plan, breaking: violation.promise)
        print("Smaller:\n  scripts/soak replay \(small.arguments)")
        throw ExitCode.failure
    }
}

/// Runs one simulation again.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Runs one simulation and prints the end of its trace."
    )

    @Option(help: "The seed.")
    var seed: UInt64

    @Option(help: "About how many poll cycles.")
    var cycles = 300

    @Option(help: "At most so many faults.")
    var limit = Int.max

    @Option(help: "Kinds of fault to leave out, separated by commas.")
    var without = ""

    @Option(help: "A defect to plant.")
    var defect = Defect.none.rawValue

    @Option(help: "How many lines of the trace to print.")
    var lines = 200

    func run() async throws {
        var plan = SimulationPlan(seed: seed)
        plan.cycles = cycles
        plan.limit = limit
        for word in without.split(separator: ",") {
            guard let kind = FaultKind(name: String(word)) else {
                throw ValidationError("There is no fault \(word); there are \(FaultKind.allCases.map(\.name)).")
            }
            plan.without.insert(kind)
        }
        guard let defect = Defect(rawValue: defect) else { throw ValidationError("There is no such defect.") }
        plan.defect = defect
        let result = try await Simulation.run(plan, lines: lines)
        for line in result.lines { print(line) }
        print("\(result.cycles) cycles, \(result.steps) steps, hash \(String(result.hash, radix: 16))")
        for violation in result.violations { print("broken: \(violation)") }
        if !result.violations.isEmpty { throw ExitCode.failure }
    }
}
