import ArgumentParser
import Foundation
import StarwatchCore
import Synchronization

@testable import Starwatch
@testable import StarwatchPolling
@testable import StarwatchTelemetry

/// Visits of many accounts in one process, each with one unchanged cycle.
struct Visits: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "CPU time of visits without changes, by the number of accounts."
    )

    @Argument(help: "The mock server's URL.") var server: String
    @Option(help: "A file with the ids of plans, one a line.") var plans: String
    @Option(help: "How many accounts.") var accounts = 1000
    @Option(help: "How many visits.") var count = 10_000
    @Option(help: "In how many rounds they are measured.") var rounds = 5
    @Option(help: "How many plans each account stars.") var starred = 2

    func run() async throws {
        let folder = try Folder()
        let world = try World(server: server, plans: plans, starred: starred)
        var options = world.options(polls: 1, database: folder.path("0.db"))
        options.accounts = .many
        options.initialIdentity = nil
        options.security.masterKeyFile = try folder.masterKey()
        options.polls[0].timing = .every(.seconds(900))
        options.limits.maxConcurrentPolls = 16
        options.fleet.requestsPerSecond = 1_000_000
        // Each poll is measured with its own request.
        options.fleet.sharedRequests = false
        let stars = options.polls[0].planIDs
        options.polls[0].planIDs = []
        let clock = HurriedClock()
        let agent = try await Agent(options: options, time: clock)
        for start in stride(from: 0, to: accounts, by: 500) {
            let additions = (start..<min(start + 500, accounts)).map { index in
                AccountAdditions.Entry(did: "did:ethr:0x\(String(format: "%040x", index + 1))", stars: stars)
            }
            _ = try await agent.perform(ControlAPI.addAccounts, AccountAdditions(accounts: additions))
        }
        // The first cycle of each account finds its starting point.
        for _ in 0..<3 { _ = try await Self.visitAll(agent, clock) }
        print("visits     CPU µs/visit   wall µs/visit   resident MiB")
        var figures: [Double] = []
        for _ in 1...rounds {
            let (cpu, wall) = (Usage.cpuSeconds, ContinuousClock.now)
            var visits = 0
            while visits < count / rounds { visits += try await Self.visitAll(agent, clock) }
            figures.append((Usage.cpuSeconds - cpu) / Double(visits) * 1e6)
            let elapsed = (ContinuousClock.now - wall) / .microseconds(1) / Double(visits)
            print(String(format: "%9d  %13.1f  %14.1f  %13.1f", visits, figures.last!, elapsed, Usage.residentMiB))
        }
        figures.sort()
        print(
            String(
                format: "CPU µs/visit: median %.1f, least %.1f, most %.1f; peak resident %.1f MiB",
                figures[figures.count / 2],
                figures[0],
                figures[figures.count - 1],
                Usage.peakResidentMiB
            )
        )
    }

    /// Lets time pass until every account is due, and visits each.
    ///
    /// - Returns: The number of visits.
    private static func visitAll(_ agent: Agent, _ clock: HurriedClock) async throws -> Int {
        guard let service = agent.fleet else { throw ValidationError("the agent serves one account") }
        clock.advance(by: .seconds(901))
        let polls = agent.metrics.polls
        let succeeded = polls.successes[agent.runtime.polls[0].label].value
        var visits = 0
        while case let leases = await service.claim(), !leases.isEmpty {
            let places = ConcurrencyLimit(16)
            await withDiscardingTaskGroup { group in
                for lease in leases {
                    _ = await places.acquire()
                    group.addTask(executorPreference: agent.runtime.pollService.executor) {
                        await service.visit(lease)
                        places.release()
                    }
                }
            }
            visits += leases.count
        }
        guard polls.successes[agent.runtime.polls[0].label].value - succeeded == UInt64(visits) else {
            throw ValidationError("not every visit polled with success")
        }
        return visits
    }
}

/// The machine's clocks, ahead by what was asked for.
final class HurriedClock: TimeSource {
    private let clock = SystemClock()
    private let lead = Atomic<Int64>(0)

    func advance(by duration: Duration) { lead.add(duration.wholeMilliseconds, ordering: .relaxed) }

    private var ahead: Duration { .milliseconds(lead.load(ordering: .relaxed)) }

    var now: Timestamp { clock.now + ahead }
    var monotonic: Duration { clock.monotonic + ahead }
    var boottime: Duration { clock.boottime + ahead }
    func sleep(for duration: Duration) async throws { try await clock.sleep(for: duration) }
}
