import ArgumentParser
import Glibc
import StarwatchSimulation

/// Runs the agent in simulated worlds and checks its guarantees.
@main
struct SimulationCommand: AsyncParsableCommand {
    static func main() async {
        makeHashingDeterministic()
        await main(nil)
    }

    /// Starts the program again with a fixed seed of Swift's hash tables, whatever the shell has set. If their order decided the
    /// agent's work, a run could not be replayed.
    private static func makeHashingDeterministic() {
        let name = "SWIFT_DETERMINISTIC_HASHING"
        guard getenv(name).map({ String(cString: $0) }) != "1", setenv(name, "1", 1) == 0 else { return }
        var arguments: [UnsafeMutablePointer<CChar>?] = CommandLine.arguments.map { strdup($0) }
        arguments.append(nil)
        execv("/proc/self/exe", &arguments)
    }

    static let configuration = CommandConfiguration(
        commandName: "starwatch-simulation",
        abstract: "Run the agent in simulated worlds with injected faults, and check its guarantees.",
        subcommands: [CampaignCommand.self, ReplayCommand.self],
        defaultSubcommand: CampaignCommand.self
    )

    fileprivate static func checked(_ stores: Int, accounts: Int) throws -> Int {
        guard (1...5).contains(stores) else { throw ValidationError("--stores: use 1 to 5.") }
        guard stores == 1 || accounts > 0 else { throw ValidationError("--stores: add --accounts.") }
        return stores
    }
}

/// Runs one seed after another.
struct CampaignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "campaign",
        abstract: "Run one seed after another. The first one that breaks a guarantee is reduced and printed."
    )

    @Option(help: "Duration in minutes.")
    var minutes = 1.0

    @Option(help: "First seed. Default: random.")
    var seed: UInt64?

    @Option(help: "Approximate number of poll cycles in a run.")
    var cycles = 300

    @Option(help: "Number of accounts of one agent. 0: an agent with an active identity.")
    var accounts = 0

    @Option(help: "Number of processes that share the accounts.")
    var stores = 1

    @Option(help: "Maximum number of runs.")
    var runs = Int.max

    @Flag(help: "Continue after a broken guarantee.")
    var keepGoing = false

    func run() async throws {
        var plan = SimulationPlan(seed: seed ?? .random(in: 0..<1_000_000_000))
        plan.cycles = cycles
        plan.accounts = accounts
        plan.stores = try SimulationCommand.checked(stores, accounts: accounts)
        print("simulate: from seed \(plan.seed)")
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
        print("To repeat the run:\n  scripts/simulate replay \(failure.plan.arguments)")
        let small = try await Shrinker().shrink(failure.plan, breaking: violation.guarantee)
        print("A smaller run that fails as well:\n  scripts/simulate replay \(small.arguments)")
        throw ExitCode.failure
    }
}

/// Repeats one run.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Repeat one run and print the end of its trace."
    )

    @Option(help: "Seed of the run.")
    var seed: UInt64

    @Option(help: "Approximate number of poll cycles.")
    var cycles = 300

    @Option(help: "Number of accounts of one agent. 0: an agent with an active identity.")
    var accounts = 0

    @Option(help: "Number of processes that share the accounts.")
    var stores = 1

    @Option(help: "Maximum number of faults.")
    var limit = Int.max

    @Option(help: "Kinds of fault to exclude, separated by commas.")
    var without = ""

    @Option(help: "Defect to plant.")
    var defect = Defect.none.rawValue

    @Option(help: "Number of trace lines to print.")
    var lines = 200

    func run() async throws {
        var plan = SimulationPlan(seed: seed)
        plan.cycles = cycles
        plan.accounts = accounts
        plan.stores = try SimulationCommand.checked(stores, accounts: accounts)
        plan.limit = limit
        for word in without.split(separator: ",") {
            guard let kind = FaultKind(name: String(word)) else {
                throw ValidationError(
                    "--without: unknown fault \(word). Use \(Self.list(FaultKind.allCases.map(\.name)))."
                )
            }
            plan.without.insert(kind)
        }
        guard let defect = Defect(rawValue: defect) else {
            throw ValidationError(
                "--defect: unknown defect \(defect). Use \(Self.list(Defect.allCases.map(\.rawValue)))."
            )
        }
        plan.defect = defect
        let result = try await Simulation.run(plan, lines: lines)
        for line in result.lines { print(line) }
        print("\(result.cycles) cycles, \(result.steps) steps, hash \(String(result.hash, radix: 16))")
        for violation in result.violations { print("broken: \(violation)") }
        if !result.violations.isEmpty { throw ExitCode.failure }
    }

    private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }
}
