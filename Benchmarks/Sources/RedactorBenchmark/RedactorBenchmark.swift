import ArgumentParser
import Foundation
import StarwatchTelemetry

/// Measures the redactor over log lines, and ripgrep over the same lines with patterns that find the same.
@main
struct RedactorBenchmark: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "RedactorBenchmark",
        abstract: "How fast log lines are redacted, beside ripgrep."
    )

    @Option(help: "How many MB of lines.") var megabytes = 64
    @Option(help: "Every how many lines something must be replaced.") var oneIn = 50
    @Option(help: "How often all is measured.") var rounds = 7
    @Flag(help: "Lines in the text format instead of JSON.") var text = false

    func run() throws {
        var lines: [[UInt8]] = []
        var size = 0
        var hits = 0
        while size < megabytes * 1_000_000 {
            let isHit = lines.count % oneIn == oneIn - 1
            let line = Array((text ? Lines.text : Lines.json)(lines.count, isHit ? Lines.secret(hits) : nil).utf8)
            hits += isHit ? 1 : 0
            size += line.count
            lines.append(line)
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "starwatch-redactor-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(lines.joined()).write(to: file)
        print("\(lines.count) lines, \(size) bytes, \(hits) to be changed; one thread each")

        let redactor = Redactor()
        var changed = 0
        let ours = measure {
            changed = lines.reduce(0) { count, line in
                var line = line
                return count + (redactor.redact(&line).isEmpty ? 0 : 1)
            }
        }
        guard changed == hits else { throw ValidationError("\(changed) lines were changed, not \(hits)") }
        report("redactor", ours, size)
        for (name, arguments) in [
            ("rg --count", ["--count"]), ("rg --replace", ["--passthru", "--replace", "[REDACTED]"]),
        ] {
            var failed = false
            let seconds = measure { failed = !ripgrep(arguments, file) || failed }
            if failed { print("\(name) could not be run") } else { report(name, seconds, size) }
        }
    }

    /// The CPU seconds of each round, sorted. The first, which warms up, is left out.
    private func measure(_ body: () -> Void) -> [Double] {
        body()
        return (0..<rounds).map { _ in
            let start = cpuSeconds
            body()
            return cpuSeconds - start
        }.sorted()
    }

    /// CPU time of this process and its children.
    private var cpuSeconds: Double {
        [RUSAGE_SELF, RUSAGE_CHILDREN].reduce(0) { sum, who in
            var usage = rusage()
            getrusage(__rusage_who_t(who.rawValue), &usage)
            func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
            return sum + seconds(usage.ru_utime) + seconds(usage.ru_stime)
        }
    }

    private func report(_ name: String, _ seconds: [Double], _ size: Int) {
        let speeds = seconds.map { Double(size) / 1e6 / $0 }
        let name = name.padding(toLength: 14, withPad: " ", startingAt: 0)
        print(name + String(format: "median %5.0f MB/s, %.0f to %.0f", speeds[rounds / 2], speeds.last!, speeds.first!))
    }

    private func ripgrep(_ arguments: [String], _ file: URL) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/rg")
        process.arguments =
            ["--threads", "1", "--no-config", "--no-filename"] + arguments + Lines.patterns.flatMap { ["-e", $0] }
            + [file.path]
        process.standardOutput = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
