import ArgumentParser
import Foundation
import StarwatchCore

/// Measures decisions without I/O.
@main
struct CoreBenchmark: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "CoreBenchmark",
        abstract: "The cost of reading a page, and of finding the next run of a schedule.",
        subcommands: [ReadPage.self, NextRun.self]
    )
}

/// CPU time of this process in seconds.
private func cpuSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Prints the median and the range of `figure` for the CPU seconds of one call of `body`.
private func measure(
    _ name: String,
    count: Int,
    rounds: Int,
    unit: String,
    figure: (Double) -> Double,
    _ body: () -> Void
) {
    var figures: [Double] = []
    for _ in 0..<rounds {
        let start = cpuSeconds()
        for _ in 0..<count { body() }
        figures.append(figure((cpuSeconds() - start) / Double(count)))
    }
    figures.sort()
    let text = String(format: "%.0f %@, %.0f–%.0f", figures[rounds / 2], unit, figures[0], figures[rounds - 1])
    print(name.padding(toLength: 36, withPad: " ", startingAt: 0) + text)
}

/// A page of 100 changes.
struct ReadPage: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "page", abstract: "Reading a page of 100 changes.")

    @Option(help: "Write the page to this file, for other programs, and measure nothing.") var write: String?
    @Option(help: "Pages a round.") var count = 500
    @Option(help: "Rounds.") var rounds = 15

    func run() throws {
        let page = Self.page
        if let write { return try Data(page).write(to: URL(filePath: write)) }
        for validation in Validation.allCases {
            let name = "\(page.count) bytes, \(validation)"
            measure(name, count: count, rounds: rounds, unit: "MB/s", figure: { Double(page.count) / $0 / 1e6 }) {
                let read = try? PageDecoder(dialect: .canonical, validation: validation, quarantine: false).decode(page)
                precondition(read?.changes.count == 100)
            }
        }
    }

    /// Valid by the contract's schema, with 880 bytes an item, a few of them not ASCII.
    private static var page: [UInt8] {
        let words = ["garden", "river", "school", "workshop", "bicycle", "community", "kitchen", "library", "Märchen"]
        let did = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"
        let items = (0..<100).map { index in
            let text = (0..<24).map { words[(index * 7 + $0 * 5) % words.count] }.joined(separator: " ")
            return """
                {"planSummary":{"jwtId":"\(1_704_067_200 + index)_abc123_0badf00d",\
                "handleId":"https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q6\(10_000 + index)",\
                "name":"Community project \(index)","description":"\(text)","issuerDid":"\(did)","agentDid":"\(did)",\
                "startTime":"2025-01-01T00:00:00Z","endTime":"2025-01-31T23:59:59Z","locLat":40.71\(index),\
                "locLon":-74.0\(index + 60),"url":"https://project.example.com/p/\(index)","version":"1.0.0"},\
                "previousClaim":{"jwtId":"1703980800_xyz789_0badf00d","claimType":"project_update",\
                "claimData":{"status":"in_progress","progress":0.75,"lastModified":"2025-01-01T12:00:00Z"},\
                "metadata":{"createdAt":"2025-01-01T10:00:00Z","updatedAt":"2025-01-01T12:00:00Z"}}}
                """
        }
        let pagination = #"{"hasMore":false,"nextAfterId":null}"#
        let text = #"{"data":[\#(items.joined(separator: ","))],"hitLimit":false,"pagination":\#(pagination)}"#
        return Array(text.utf8)
    }
}

/// Cron expressions of every kind.
struct NextRun: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cron",
        abstract: "The next run after random times of seven years, in UTC and in New York."
    )

    @Option(help: "Rounds.") var rounds = 15

    func run() throws {
        let file = try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/America/New_York"))
        let newYork = try ZoneTable(Array(file), identifier: "America/New_York")
        let times = (0..<4096).map { Timestamp(seconds: 1_700_000_000 + Int64($0) * 54_321) }
        let expressions = [
            "* * * * *", "*/5 * * * *", "*/15 9-17 * * 1-5", "0 9 * * *", "30 2 * * *", "0 0 * * 0", "0 0 1 * *",
            "0 12 13 * 5", "59 23 31 12 *", "0 0 29 2 *",
        ]
        for text in expressions {
            let cron = try CronExpression(text)
            for zone in [FixedZone.utc, newYork] as [any TimeZoneRules] {
                let name = "\(text), \(zone.identifier)"
                let figure = { (seconds: Double) in seconds / Double(times.count) * 1e9 }
                measure(name, count: 10, rounds: rounds, unit: "ns", figure: figure) {
                    for time in times { precondition(cron.next(after: time, in: zone) != nil) }
                }
            }
        }
    }
}
