import ArgumentParser
import BenchmarkProgram
import CAllocations
import Foundation
import StarwatchCore
import Synchronization

@testable import Starwatch
@testable import StarwatchStore
@testable import StarwatchTelemetry

@main
enum Program {
    static func main() { TelemetryBenchmark.runInTask() }
}

/// Measures what counting costs, and what a page of metrics costs.
struct TelemetryBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "TelemetryBenchmark",
        abstract: "The cost of metrics: counting, rendering, a scrape.",
        subcommands: [Count.self, Render.self, Scrape.self]
    )
}

/// Times `body`, which does `count` operations, and prints nanoseconds an operation over the rounds.
func measure(_ name: String, count: Int, rounds: Int, _ body: () -> Void) {
    body()
    var figures: [Double] = []
    let blocks = allocation_count()
    for _ in 0..<rounds {
        let start = ContinuousClock.now
        body()
        figures.append((ContinuousClock.now - start) / .nanoseconds(1) / Double(count))
    }
    let allocated = Double(allocation_count() - blocks) / Double(count * rounds)
    figures.sort()
    let text = String(
        format: "median %9.1f ns, least %9.1f, most %9.1f; %.3f allocations",
        figures[figures.count / 2],
        figures[0],
        figures[figures.count - 1],
        allocated
    )
    print(name.padding(toLength: 36, withPad: " ", startingAt: 0) + text)
}

final class Floor: Sendable {
    let value = Atomic<UInt64>(0)
}

/// The metric path.
struct Count: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "A counter's increment and a histogram's observation.")

    @Option(help: "Operations a round.") var count = 10_000_000
    @Option(help: "Rounds.") var rounds = 20

    func run() throws {
        let registry = MetricRegistry()
        let counter = registry.counter("starwatch_benchmark_total", "Counts.")
        let histogram = registry.histogram(
            "starwatch_benchmark_seconds",
            "Observes.",
            bounds: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
        )
        let floor = Floor()
        measure("bare atomic, the floor", count: count, rounds: rounds) {
            for _ in 0..<count { floor.value.wrappingAdd(1, ordering: .relaxed) }
        }
        measure("counter increment", count: count, rounds: rounds) {
            for _ in 0..<count { counter.increment() }
        }
        measure("histogram observation, 11 buckets", count: count, rounds: rounds) {
            for index in 0..<count { histogram.observe(Double(index & 1023) * 0.001) }
        }
        print("counted \(counter.value) and \(histogram.counts.reduce(0, +))")
    }
}

/// The page.
struct Render: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Rendering a page of integer series.")

    @Option(help: "Series.") var series = 1_000
    @Option(help: "Rounds.") var rounds = 200

    func run() throws {
        let bridge = MetricsBridge(seriesBudget: series)
        let registry = MetricRegistry(dependencies: bridge)
        for index in 0..<series {
            bridge.makeCounter(label: "family_\(index / 100)", dimensions: [("series", "value_\(index % 100)")])
                .increment(by: Int64(index) * 1_000)
        }
        for format in [ExpositionFormat.text, .openMetrics] {
            var bytes = 0
            measure("\(series) series as \(format)", count: 1, rounds: rounds) { bytes = registry.page(format).count }
            print("  \(bytes) bytes")
        }
    }
}

/// Cost of a scrape.
struct Scrape: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "A scrape of an agent with many rows in its outbox.")

    @Option(help: "Rows that wait in the outbox.") var rows = 100_000
    @Option(help: "Rounds.") var rounds = 200

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "starwatch-scrape-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var options = AgentOptions()
        options.server.url = "http://127.0.0.1:9"
        options.initialIdentity = DID("did:ethr:0x00000000000000000000000000000000000000b0")
        options.storage.path = folder.appending(path: "starwatch.db").path
        options.outbox.maxUndelivered = rows * 2
        options.polls = [PollOptions(name: PollName("starred_projects")!, kind: .starredProjects)]
        options.delivery.sinks = [SinkOptions(name: "log", kind: .log)]
        options.log.level = .critical
        let agent = try await Agent(options: options)
        let stream = StreamKey(
            account: options.initialIdentity!,
            server: agent.runtime.account.server,
            poll: options.polls[0].name
        )
        let generation = try await agent.store.identity.active().generation
        for start in stride(from: 0, to: rows, by: 1_000) {
            let page = page(of: start..<min(start + 1_000, rows), in: stream, generation: generation)
            _ = try await agent.store.outbox.commit(page: page)
        }
        try await measure("with \(rows) rows") { try await scrape(agent) }
        var next = rows
        try await measure("after a change, with \(rows) rows") {
            _ = try await agent.store.outbox.commit(page: page(of: next..<next + 1, in: stream, generation: generation))
            next += 1
            return try await scrape(agent)
        }
        await agent.close()
    }

    private func page(of indices: Range<Int>, in stream: StreamKey, generation: Int) -> PageCommit {
        var page = PageCommit(
            stream: stream,
            expectedGeneration: generation,
            runID: "run",
            changes: indices.map { index in
                let id = JWTID.floor(.ulid, at: Timestamp(milliseconds: 1_767_225_600_000 + Int64(index)))
                return FetchedChange(Change(id: id, plan: "plan_\(index % 100)", name: "name"))
            },
            room: rows,
            now: Timestamp(milliseconds: 1_767_225_600_000)
        )
        page.cursor = .followItems(upTo: nil)
        return page
    }

    /// CPU time of this process.
    private static var cpuSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private func scrape(_ agent: Agent) async throws -> Double {
        let start = ContinuousClock.now
        let answer = await agent.topics.metrics(MetricsQuery())
        guard answer.status == 200 else { throw ValidationError("a scrape failed") }
        return (ContinuousClock.now - start) / .milliseconds(1)
    }

    private func measure(_ name: String, _ one: () async throws -> Double) async throws {
        var figures: [Double] = []
        let start = Self.cpuSeconds
        for _ in 0..<rounds { figures.append(try await one()) }
        let cpu = (Self.cpuSeconds - start) / Double(rounds) * 1e3
        figures.sort()
        let least = figures[0]
        let most = figures[rounds - 1]
        print(
            String(
                format: "scrape %@: median %.2f ms, least %.2f, 99 of 100 below %.2f, most %.2f; %.3f ms of CPU each",
                name,
                figures[rounds / 2],
                least,
                figures[rounds * 99 / 100],
                most,
                cpu
            )
        )
    }
}
