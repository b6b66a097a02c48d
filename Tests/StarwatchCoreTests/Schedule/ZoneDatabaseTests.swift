import Foundation
import Testing

@testable import StarwatchCore

/// Compares cron with ``MinuteWalker`` around the changes of offset of every zone of the system's database.
///
/// By default it tests a sample of the changes; `STARWATCH_ZONE_CHANGES=all` tests every one from 1970 to 2037.
@Suite struct ZoneDatabaseTests {
    private static let years: Range<Int64> = 0..<2_145_916_800
    private static let takesAll = ProcessInfo.processInfo.environment["STARWATCH_ZONE_CHANGES"] == "all"
    /// The number of changes in the sample of one test. The seed determines the sample.
    private static let sampleSize = 300

    private struct Place: Sendable {
        let zone: ZoneTable
        let change: Int64
    }

    private func places() throws -> [Place] {
        var places: [Place] = []
        for name in MachineZones.names {
            let zone = try MachineZones.table(name)
            places += zone.changes.map(\.second).filter(Self.years.contains).map { Place(zone: zone, change: $0) }
        }
        if Self.takesAll { return places }
        var random = SplitMix64(seed: 2037)
        return places.shuffled(using: &random).prefix(Self.sampleSize).map { $0 }
    }

    /// Fields for the hours of clock changes, and one arbitrary expression.
    private func oracle(_ index: Int, _ random: inout SplitMix64) -> CronOracle {
        func all(_ range: ClosedRange<Int>) -> CronOracle.Field { .init(text: "*", values: Set(range)) }
        func daily(_ minute: CronOracle.Field, _ hour: CronOracle.Field) -> CronOracle {
            CronOracle(minute: minute, hour: hour, day: all(1...31), month: all(1...12), weekday: all(0...6))
        }
        let low = Int.random(in: 0...3, using: &random)
        let step = Int.random(in: 5...30, using: &random)
        let minutes = CronOracle.Field(text: "*/\(step)", values: Set(stride(from: 0, to: 60, by: step)))
        switch index % 4 {
        case 0: return daily(minutes, all(0...23))
        case 1:
            return daily(minutes, CronOracle.Field(text: "\(low)-\(low + 2)", values: Set(low...low + 2)))
        case 2:
            let minute = Int.random(in: 0...59, using: &random)
            let hours = CronOracle.Field(text: "\(low),23", values: [low, 23])
            return daily(CronOracle.Field(text: "\(minute)", values: [minute]), hours)
        default: return .random(using: &random)
        }
    }

    @Test func cronMatchesAMinuteWalkAroundEveryChange() async throws {
        let places = try places()
        let workers = 2
        let counts = try await withThrowingTaskGroup(of: (places: Int, runs: Int).self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var random = SplitMix64(seed: UInt64(worker))
                    var runs = 0
                    var seen = 0
                    for index in stride(from: worker, to: places.count, by: workers) {
                        runs += try compare(places[index], index, &random)
                        seen += 1
                    }
                    return (seen, runs)
                }
            }
            return try await group.reduce(into: (0, 0)) { $0 = ($0.0 + $1.places, $0.1 + $1.runs) }
        }
        #expect(counts.0 == places.count)
        #expect(counts.1 > counts.0 * 10)
        print("zones: \(counts.0) changes of offset, \(counts.1) runs compared")
    }

    /// Compares the runs of four expressions around a change.
    ///
    /// - Returns: The number of runs.
    private func compare(_ place: Place, _ index: Int, _ random: inout SplitMix64) throws -> Int {
        var count = 0
        let from = place.change - 90_000
        let to = place.change + 90_000
        // Every second of the minute before, because the scheduler can wake at any of them.
        for kind in 0..<4 {
            let oracle = oracle(kind, &random)
            guard let cron = try? CronExpression(oracle.text) else { continue }
            let expected = MinuteWalker(oracle).runs(from: from, to: to, zone: place.zone)
            var found: [Int64] = []
            var last = Timestamp(seconds: from)
            while let next = cron.next(after: last, in: place.zone), next <= Timestamp(seconds: to) {
                guard next > last else { break }
                found.append(next.milliseconds / 1000)
                last = next
            }
            count += expected.count
            if found != expected {
                Issue.record(
                    """
                    \(oracle.text) in \(place.zone.identifier) around \(Timestamp(seconds: place.change).iso8601): \
                    missing \(Set(expected).subtracting(found).sorted().prefix(3)), \
                    too many \(Set(found).subtracting(expected).sorted().prefix(3))
                    """
                )
            }
        }
        return count
    }
}
