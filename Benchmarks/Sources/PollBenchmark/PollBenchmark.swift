import ArgumentParser
import Foundation
import Starwatch
import StarwatchCore

/// Measures whole poll cycles of the library against a mock server in another process.
@main
struct PollBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "PollBenchmark",
        abstract: "Poll cycles against a mock server: CPU time, memory, latency.",
        subcommands: [Backlog.self, Cycles.self, InFlight.self]
    )
}

/// One poll, one cycle after the other.
struct Cycles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "CPU time of unchanged cycles, and memory over many of them."
    )

    @Argument(help: "The mock server's URL.") var server: String
    @Option(help: "How many cycles.") var count = 100_000
    @Option(help: "In how many rounds they are measured.") var rounds = 10

    func run() async throws {
        let folder = try Folder()
        let agent = try await Agent(options: options(server: server, polls: 1, folder: folder, number: 0))
        let name = PollName("poll_0")!
        for _ in 0..<100 { _ = await agent.poll(name) }
        print("cycles     CPU µs/cycle   wall µs/cycle   resident MiB")
        var figures: [Double] = []
        for round in 1...rounds {
            let (cpu, wall) = (Usage.cpuSeconds, ContinuousClock.now)
            for _ in 0..<count / rounds {
                guard await agent.poll(name) == .unchanged else { throw ValidationError("a cycle was not unchanged") }
            }
            let cycles = Double(count / rounds)
            let perCycle = (Usage.cpuSeconds - cpu) / cycles * 1e6
            figures.append(perCycle)
            let elapsed = (ContinuousClock.now - wall) / .microseconds(1) / cycles
            print(
                String(
                    format: "%9d  %13.1f  %14.1f  %13.1f",
                    round * count / rounds,
                    perCycle,
                    elapsed,
                    Usage.residentMiB
                )
            )
        }
        figures.sort()
        print(
            String(
                format: "CPU µs/cycle: median %.1f, least %.1f, most %.1f; peak resident %.1f MiB",
                figures[figures.count / 2],
                figures[0],
                figures[figures.count - 1],
                Usage.peakResidentMiB
            )
        )
    }
}

/// Many polls at once: what the agent adds to a server that takes a known time.
struct InFlight: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What cycles take with many in flight, beside a bare client's requests to the same server."
    )

    @Argument(help: "The mock server's URL.") var server: String
    @Option(help: "How many polls at once.") var polls = 100
    @Option(help: "How many polls each agent has; it takes no more than 16.") var perAgent = 16
    @Option(help: "How many cycles each.") var cycles = 250
    @Option(help: "In how many rounds the two take turns.") var rounds = 5
    @Option(help: "Over how many milliseconds they begin, as polls do by their splay; best what the server takes.")
    var spread = 100

    func run() async throws {
        let folder = try Folder()
        var pairs: [(Agent, PollName)] = []
        while pairs.count < polls {
            let options = try options(
                server: server,
                polls: min(perAgent, polls - pairs.count),
                folder: folder,
                number: pairs.count / perAgent
            )
            let agent = try await Agent(options: options)
            pairs += options.polls.map { (agent, $0.name) }
        }
        // The first cycle of each is a bootstrap.
        _ = await Self.cycles(pairs, 1, spread: .zero)
        // In turns, so that what else the machine does meets both.
        var (bare, agent): ([Double], [Double]) = ([], [])
        let each = max(1, cycles / rounds)
        for _ in 0..<rounds {
            bare += try bareRequests(pairs.count, each)
            agent += await Self.cycles(pairs, each, spread: .milliseconds(spread))
        }
        print("\(agent.count) cycles and as many bare requests, \(pairs.count) in flight, in \(rounds) rounds")
        print("                  p50      p95      p99     most  (ms)")
        let rows = [("bare client", Shares(bare)), ("agent's cycle", Shares(agent))]
        for (name, shares) in rows { print(name.padding(toLength: 13, withPad: " ", startingAt: 0), shares.text) }
        print("added        ", (rows[1].1 - rows[0].1).text)
        print(String(format: "peak resident %.1f MiB", Usage.peakResidentMiB))
    }

    private func bareRequests(_ connections: Int, _ requests: Int) throws -> [Double] {
        guard let url = URL(string: server) else { throw ValidationError("the server's URL is none") }
        let ids = planIDs.map { "\"\($0)\"" }.joined(separator: ",")
        let body = "{\"planIds\":[\(ids)],\"afterId\":\"0\"}"
        return try BareClient.run(
            server: url,
            body: body,
            connections: connections,
            requests: requests,
            spread: .milliseconds(spread)
        )
    }

    private static func cycles(_ pairs: [(Agent, PollName)], _ count: Int, spread: Duration) async -> [Double] {
        await withTaskGroup(of: [Double].self) { group in
            for (index, (agent, name)) in pairs.enumerated() {
                group.addTask {
                    try? await Task.sleep(for: spread * index / pairs.count)
                    var taken: [Double] = []
                    for _ in 0..<count {
                        let start = ContinuousClock.now
                        _ = await agent.poll(name)
                        taken.append((ContinuousClock.now - start) / .milliseconds(1))
                    }
                    return taken
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }
}

/// What parts of many times stay below, in milliseconds.
private struct Shares {
    let values: [Double]

    init(_ times: [Double]) {
        let sorted = times.sorted()
        values = [0.5, 0.95, 0.99, 1].map { sorted[Int(Double(sorted.count - 1) * $0)] }
    }

    private init(values: [Double]) { self.values = values }

    static func - (left: Shares, right: Shares) -> Shares {
        Shares(values: zip(left.values, right.values).map { $0 - $1 })
    }

    var text: String { values.map { String(format: "%8.1f", $0) }.joined(separator: " ") }
}

/// The plans that are asked about.
private let planIDs = (0..<20).map { "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q6\(String(format: "%05d", $0))" }

/// An agent's options: polls that run only when asked.
private func options(server: String, polls: Int, folder: Folder, number: Int) throws -> AgentOptions {
    var options = AgentOptions()
    options.server.url = server
    options.server.dialect = .endorser
    options.initialIdentity = DID("did:ethr:0x0000000000000000000000000000000000000001")
    options.storage.path = folder.path("\(number).db")
    options.polls = (0..<polls).map { index in
        var poll = PollOptions(name: PollName("poll_\(index)")!, kind: .starredProjects)
        poll.planIDs = planIDs
        return poll
    }
    options.delivery.sinks = [SinkOptions(name: "log", kind: .log)]
    options.limits.requestsPerMinute = 100_000_000
    options.limits.maxConcurrentPolls = polls
    options.log.level = .warning
    return options
}

/// A directory that is removed at the end.
final class Folder: Sendable {
    private let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "starwatch-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func path(_ name: String) -> String { url.appending(path: name).path }

    deinit { try? FileManager.default.removeItem(at: url) }
}

/// What this process has used.
enum Usage {
    static var cpuSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    static var residentMiB: Double {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0
        return pages * Double(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
    }

    static var peakResidentMiB: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_maxrss) / 1024
    }
}
