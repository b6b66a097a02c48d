import ArgumentParser
import BenchmarkProgram
import CAllocations
import Foundation
import StarwatchCore

@testable import Starwatch

@main
enum Program {
    static func main() { PollBenchmark.runInTask() }
}

/// Measures whole poll cycles of the library against a mock server in another process.
struct PollBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "PollBenchmark",
        abstract: "Poll cycles against a mock server: CPU time, memory, latency.",
        subcommands: [Backlog.self, Cycles.self, InFlight.self, Requests.self, Visits.self]
    )
}

/// One poll, one cycle after the other.
struct Cycles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "CPU time of unchanged cycles, and memory over many of them."
    )

    @Argument(help: "The mock server's URL.") var server: String
    @Option(help: "A file with the ids of plans, one a line.") var plans: String
    @Option(help: "How many cycles.") var count = 100_000
    @Option(help: "In how many rounds they are measured.") var rounds = 10
    @Option(help: "How many plans are starred.") var starred = 20
    @Flag(help: "Compare with an agent whose database is encrypted.") var encryption = false

    func run() async throws {
        let folder = try Folder()
        let world = try World(server: server, plans: plans, starred: starred)
        if encryption { return try await compareEncryption(world, folder) }
        let agent = try await Agent(options: world.options(polls: 1, database: folder.path("0.db")))
        try await agent.asItsSchedule { try await measure(agent) }
    }

    private func measure(_ agent: Agent) async throws {
        let name = PollName("poll_0")!
        for _ in 0..<100 { _ = await agent.poll(name) }
        print("cycles     CPU µs/cycle   wall µs/cycle   resident MiB")
        var figures: [Double] = []
        let (blocks, switches) = (allocation_count(), Usage.contextSwitches)
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
        let cycles = Double(count / rounds * rounds)
        print(
            String(
                format: "%.1f allocations and %.2f context switches a cycle, of which %.2f voluntary",
                Double(allocation_count() - blocks) / cycles,
                Double(Usage.contextSwitches.all - switches.all) / cycles,
                Double(Usage.contextSwitches.voluntary - switches.voluntary) / cycles
            )
        )
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

extension Cycles {
    /// Measures agents with a clear and with an encrypted database in turns.
    private func compareEncryption(_ world: World, _ folder: Folder) async throws {
        let clear = world.options(polls: 1, database: folder.path("clear.db"))
        var encrypted = world.options(polls: 1, database: folder.path("encrypted.db"))
        encrypted.security.masterKeyFile = try folder.masterKey()
        let agents = [try await Agent(options: clear), try await Agent(options: encrypted)]
        let name = PollName("poll_0")!
        for agent in agents { try await agent.asItsSchedule { for _ in 0..<1000 { _ = await agent.poll(name) } } }
        print("round   clear CPU µs/cycle   encrypted CPU µs/cycle   ratio")
        var ratios: [Double] = []
        for round in 1...rounds {
            var cpu = [0.0, 0.0]
            // In short turns, so that what else the machine does meets both.
            for turn in 0..<20 {
                for kind in turn % 2 == 0 ? [0, 1] : [1, 0] {
                    let start = Usage.cpuSeconds
                    try await agents[kind].asItsSchedule {
                        for _ in 0..<max(1, count / rounds / 20) {
                            guard await agents[kind].poll(name) == .unchanged else {
                                throw ValidationError("a cycle was not unchanged")
                            }
                        }
                    }
                    cpu[kind] += Usage.cpuSeconds - start
                }
            }
            let cycles = Double(max(1, count / rounds / 20) * 20)
            ratios.append(cpu[1] / cpu[0])
            print(
                String(
                    format: "%5d   %18.1f   %22.1f   %5.3f",
                    round,
                    cpu[0] / cycles * 1e6,
                    cpu[1] / cycles * 1e6,
                    ratios[round - 1]
                )
            )
        }
        ratios.sort()
        print(
            String(
                format: "ratio: median %.3f, least %.3f, most %.3f",
                ratios[ratios.count / 2],
                ratios[0],
                ratios[ratios.count - 1]
            )
        )
    }
}

extension Agent {
    /// The executor on which the schedules of polls begin their cycles.
    fileprivate var executor: (any TaskExecutor)? { runtime.pollService.executor }

    /// Runs `work` where the schedules begin their cycles.
    fileprivate func asItsSchedule(_ work: @escaping @Sendable () async throws -> Void) async throws {
        try await Task(executorPreference: executor) { try await work() }.value
    }
}

/// Many polls at once: what the agent adds to a server that takes a known time.
struct InFlight: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "What cycles take with many in flight, beside a bare client's requests to the same server."
    )

    @Argument(help: "The mock server's URL.") var server: String
    @Option(help: "A file with the ids of plans, one a line.") var plans: String
    @Option(help: "How many polls at once.") var polls = 100
    @Option(help: "How many polls each agent has; it takes no more than 16.") var perAgent = 16
    @Option(help: "How many cycles each.") var cycles = 250
    @Option(help: "In how many rounds the two take turns.") var rounds = 5
    @Option(help: "The splay within which they begin, in milliseconds; best what the server takes.")
    var spread = 100

    func run() async throws {
        let folder = try Folder()
        let world = try World(server: server, plans: plans)
        var pairs: [(Agent, PollName)] = []
        var agents = 0
        while pairs.count < polls {
            let database = folder.path("\(agents).db")
            let options = world.options(polls: min(perAgent, polls - pairs.count), database: database)
            let agent = try await Agent(options: options)
            pairs += options.polls.map { (agent, $0.name) }
            agents += 1
        }
        let starts = pairs.indices.map { index in
            Splay.delay(instance: "\(index)", poll: pairs[index].1, within: .milliseconds(spread))
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (agent, name) in pairs {
                group.addTask {
                    guard await agent.poll(name) == .bootstrapped else { throw ValidationError("a poll did not begin") }
                }
            }
            try await group.waitForAll()
        }
        // In turns, so that what else the machine does meets both.
        let body = try world.unchangedBody()
        var (bare, agent): ([Double], [Double]) = ([], [])
        var (cpu, wall) = (0.0, 0.0)
        let machine = MachineTime.now
        let each = max(3, cycles / rounds)
        for _ in 0..<rounds {
            bare += try BareClient.run(server: world.url, body: body, starts: starts.sorted(), requests: each)
            let (cpuBefore, before) = (Usage.cpuSeconds, ContinuousClock.now)
            agent += try await Self.cycles(pairs, each, starts: starts)
            wall += (ContinuousClock.now - before) / .seconds(1)
            cpu += Usage.cpuSeconds - cpuBefore
        }
        let stolen = MachineTime.now.stolenShare(since: machine)
        print("\(agent.count) cycles of \(agents) agents, \(pairs.count) in flight, and \(bare.count) bare requests")
        print("                  p50      p95      p99     most  (ms)")
        let rows = [("bare client", Shares(bare)), ("agent's cycle", Shares(agent))]
        for (name, shares) in rows { print(name.padding(toLength: 13, withPad: " ", startingAt: 0), shares.text) }
        print("added        ", (rows[1].1 - rows[0].1).text)
        let rate = Double(pairs.count * each * rounds) / wall
        print(String(format: "%.0f cycles a second with %.2f of a core", rate, cpu / wall))
        print(String(format: "peak resident %.1f MiB", Usage.peakResidentMiB))
        if let stolen {
            print(String(format: "%.1f %% of the machine's time went to other guests of its host", stolen * 100))
        }
    }

    /// Duration of each cycle in milliseconds, without each poll's first and last: then fewer polls are in flight.
    private static func cycles(
        _ pairs: [(Agent, PollName)],
        _ count: Int,
        starts: [Duration]
    ) async throws -> [Double] {
        try await withThrowingTaskGroup(of: [Double].self) { group in
            for ((agent, name), start) in zip(pairs, starts) {
                group.addTask(executorPreference: agent.executor) {
                    try await Task.sleep(for: start)
                    var taken: [Double] = []
                    for _ in 0..<count {
                        let start = ContinuousClock.now
                        let outcome = await agent.poll(name)
                        guard outcome == .unchanged else { throw ValidationError("a cycle was not unchanged") }
                        taken.append((ContinuousClock.now - start) / .milliseconds(1))
                    }
                    return Array(taken.dropFirst().dropLast())
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}

/// Percentiles in milliseconds.
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

/// A mock server, and which of its plans are asked about.
struct World {
    let url: URL
    private let planIDs: [String]

    /// - Parameters:
    ///   - plans: A file with their ids, one a line.
    ///   - starred: How many of them are asked about.
    init(server: String, plans: String, starred: Int = 20) throws {
        guard let url = URL(string: server), url.host == "127.0.0.1" else {
            throw ValidationError("the server's URL is to be one of 127.0.0.1")
        }
        self.url = url
        let lines = try String(contentsOfFile: plans, encoding: .utf8).split(separator: "\n")
        planIDs = lines.prefix(starred).map(String.init)
    }

    /// An agent's options: polls that run only when asked.
    func options(polls: Int, database: String) -> AgentOptions {
        var options = AgentOptions()
        options.server.url = url.absoluteString
        options.server.dialect = .endorser
        options.initialIdentity = DID("did:ethr:0x0000000000000000000000000000000000000001")
        options.storage.path = database
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

    /// Request of a cycle that has the newest change: everything within the overlap.
    func unchangedBody() throws -> String {
        let answer = try BareClient.answer(server: url, body: body(after: "0"))
        let ids = answer.matches(of: /"jwtId" *: *"([^"]+)"/).map { String($0.1) }
        guard let newest = ids.max().flatMap({ JWTID($0) }) else {
            throw ValidationError("the server has no change of these plans: start it with --changes")
        }
        return body(after: JWTID.floor(newest.kind, at: newest.timestamp - Dialect.endorser.lateVisibility).rawValue)
    }

    private func body(after id: String) -> String {
        let ids = planIDs.map { "\"\($0)\"" }.joined(separator: ",")
        return "{\"planIds\":[\(ids)],\"afterId\":\"\(id)\"}"
    }
}

/// A directory that is removed at the end.
final class Folder: Sendable {
    private let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "starwatch-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func path(_ name: String) -> String { url.appending(path: name).path }

    /// Writes a master key.
    ///
    /// - Returns: The path of its file.
    func masterKey() throws -> String {
        let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
        try key.write(toFile: path("master.key"), atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path("master.key"))
        return path("master.key")
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

/// CPU time and memory of this process.
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

    static var contextSwitches: (all: Int, voluntary: Int) {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return (usage.ru_nvcsw + usage.ru_nivcsw, usage.ru_nvcsw)
    }

    static var peakResidentMiB: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_maxrss) / 1024
    }
}

/// CPU times of all cores, from /proc/stat. Steal time makes every latency longer.
struct MachineTime {
    private var all = 0.0
    private var stolen = 0.0

    static var now: MachineTime {
        let text = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8)) ?? ""
        let fields = text.prefix { $0 != "\n" }.split(separator: " ").dropFirst().compactMap { Double($0) }
        // user, nice, system, idle, iowait, irq, softirq, steal; what follows is counted in the first two.
        guard fields.count >= 8 else { return MachineTime() }
        return MachineTime(all: fields[..<8].reduce(0, +), stolen: fields[7])
    }

    /// `nil` where it is not known.
    func stolenShare(since start: MachineTime) -> Double? {
        all > start.all ? (stolen - start.stolen) / (all - start.all) : nil
    }
}
