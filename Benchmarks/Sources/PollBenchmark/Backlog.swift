import ArgumentParser
import CStatements
import Foundation
import StarwatchCore

@testable import Starwatch

/// A backlog of changes: fetched, stored, delivered to a sink that does nothing, acknowledged to the server.
///
/// The first run records its SQL, which SQLite alone then executes again: how much slower is the whole than its writes?
/// The ratio of CPU times, without the wait for the server, is steady on a machine that others use too.
struct Backlog: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Changes per second from the server to a null sink, beside SQLite executing the same statements."
    )

    @Argument(help: "The mock server's URL.") var server: String
    @Option(help: "A file with the starred plans' ids, one a line.") var plans: String
    @Option(help: "How many changes the server has for them.") var changes = 100_000
    @Option(help: "How often the two are measured, in turns.") var rounds = 5
    @Option(help: "The outbox's room.") var room = 1000
    @Flag(help: "Compare with an agent whose database is encrypted, instead of SQLite.") var encryption = false

    func run() async throws {
        let folder = try Folder()
        if encryption { return try await compareEncryption(folder) }
        let recording = folder.path("statements")
        guard statements_record(recording) == 0 else { throw ValidationError("the recording cannot be made") }
        _ = try await drain(folder.path("recorded.db")) { statements_mark() }
        statements_stop()
        print("round   agent changes/s   of a core   SQLite changes/s   ratio   ratio of CPU time   peak resident MiB")
        var (ratios, ratiosOfCPU): ([Double], [Double]) = ([], [])
        for round in 1...rounds {
            let start = Usage.cpuSeconds
            let agent = try await drain(folder.path("agent-\(round).db")) {}
            let middle = Usage.cpuSeconds
            let raw = statements_replay(recording, folder.path("raw-\(round).db"))
            let end = Usage.cpuSeconds
            guard raw.failed == 0 else { throw ValidationError("\(raw.failed) statements failed") }
            ratios.append(raw.seconds / agent)
            ratiosOfCPU.append((end - middle) / (middle - start))
            print(
                String(
                    format: "%5d   %15.0f   %9.2f   %16.0f   %5.2f   %17.2f   %17.1f",
                    round,
                    Double(changes) / agent,
                    (middle - start) / agent,
                    Double(changes) / raw.seconds,
                    ratios[round - 1],
                    ratiosOfCPU[round - 1],
                    Usage.peakResidentMiB
                )
            )
            if round == 1 { print("        (\(raw.count) statements)") }
        }
        for (name, ratios) in [("ratio", ratios.sorted()), ("ratio of CPU time", ratiosOfCPU.sorted())] {
            print(Self.summary(name, ratios))
        }
    }

    /// Measures agents with a clear and with an encrypted database in turns.
    private func compareEncryption(_ folder: Folder) async throws {
        let key = try folder.masterKey()
        print("round   clear changes/s   encrypted changes/s   ratio   ratio of CPU time")
        var (ratios, ratiosOfCPU): ([Double], [Double]) = ([], [])
        for round in 1...rounds {
            var (times, cpu): ([Double], [Double]) = ([], [])
            // The first of a round alternates.
            for kind in round % 2 == 1 ? [0, 1] : [1, 0] {
                let start = Usage.cpuSeconds
                let time = try await drain(folder.path("\(kind)-\(round).db"), key: kind == 1 ? key : nil) {}
                times.insert(time, at: min(kind, times.count))
                cpu.insert(Usage.cpuSeconds - start, at: min(kind, cpu.count))
            }
            ratios.append(times[0] / times[1])
            ratiosOfCPU.append(cpu[0] / cpu[1])
            print(
                String(
                    format: "%5d   %15.0f   %19.0f   %5.2f   %17.2f",
                    round,
                    Double(changes) / times[0],
                    Double(changes) / times[1],
                    ratios[round - 1],
                    ratiosOfCPU[round - 1]
                )
            )
        }
        for (name, ratios) in [("ratio", ratios.sorted()), ("ratio of CPU time", ratiosOfCPU.sorted())] {
            print(Self.summary(name, ratios))
        }
    }

    private static func summary(_ name: String, _ sorted: [Double]) -> String {
        String(
            format: "\(name): median %.2f, least %.2f, most %.2f",
            sorted[sorted.count / 2],
            sorted[0],
            sorted[sorted.count - 1]
        )
    }

    /// Seconds from the first cycle to the last.
    ///
    /// - Parameter key: The file of the master key; `nil` for a database that is not encrypted.
    private func drain(_ database: String, key: String? = nil, begin: () -> Void) async throws -> Double {
        var options = AgentOptions()
        options.server.url = server
        options.server.dialect = .canonical
        options.initialIdentity = DID("did:ethr:0x0000000000000000000000000000000000000001")
        options.storage.path = database
        options.security.masterKeyFile = key
        var poll = PollOptions(name: PollName("starred_projects")!, kind: .starredProjects)
        poll.bootstrap = .beginning
        poll.planIDs = try String(contentsOfFile: plans, encoding: .utf8).split(separator: "\n").map(String.init)
        options.polls = [poll]
        options.outbox.maxUndelivered = room
        options.delivery.groupInterval = .zero
        // Writes nothing at this level.
        options.delivery.sinks = [SinkOptions(name: "log", kind: .log)]
        options.log.level = .error
        options.limits.requestsPerMinute = 100_000_000
        options.limits.acknowledgementsPerMinute = 100_000_000
        let agent = try await Agent(options: options)
        begin()
        let start = ContinuousClock.now
        var acknowledged = 0
        for _ in 0...changes {
            let report = try await agent.perform(ControlAPI.runPoll, PollRun(poll.name.rawValue))
            acknowledged += report.acknowledged
            if acknowledged == changes { break }
            guard report.outcome == "changed" else {
                throw ValidationError(
                    "a cycle was \(report.outcome) (\(report.reason ?? "-")) after \(acknowledged) acknowledgements"
                )
            }
        }
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        await agent.close()
        return elapsed
    }
}
