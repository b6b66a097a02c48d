import Foundation
import ProgramTestKit
import Testing

@testable import StarwatchCore

@Suite struct ZoneTableTests {
    /// The C library reads the same files with code of its own.
    @Test(.timeLimit(.minutes(10))) func everyZoneHasTheOffsetsThatZdumpPrints() async throws {
        #expect(MachineZones.names.count > 400, "the package tzdata is missing; run scripts/setup")
        for name in MachineZones.names { _ = try MachineZones.table(name) }
        let zones = MachineZones.different
        let halves = [zones[..<(zones.count / 2)], zones[(zones.count / 2)...]]
        let compared = try await withThrowingTaskGroup(of: Int.self) { group in
            for half in halves { group.addTask { try await Self.compare(Array(half)) } }
            return try await group.reduce(0, +)
        }
        #expect(compared > 100_000)
    }

    /// A moment before or after a change, as zdump prints it.
    private struct Line {
        let zone: Substring
        let second: Int64
        let offset: Int

        init?(_ line: Substring) {
            let words = line.split(separator: " ")
            guard words.count > 8, words[6] == "UT", let end = words.last, end.hasPrefix("gmtoff="),
                let offset = Int(end.dropFirst(7)), let year = Int(words[5]), let day = Int(words[3]),
                let month = Self.months.firstIndex(of: words[2])
            else { return nil }
            let clock = words[4].split(separator: ":").compactMap { Int64($0) }
            let days = Int64(CivilTime.days(year: year, month: month + 1, day: day))
            (zone, self.offset) = (words[0], offset)
            second = days * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
        }

        private static let months: [Substring] = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]
    }

    /// Compares the offsets around each change, and some between two changes.
    ///
    /// - Returns: The number of offsets.
    private static func compare(_ zones: [String]) async throws -> Int {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/zdump")
        process.arguments = ["-v", "-c", "1970,2101"] + zones
        process.environment = ["LC_ALL": "C"]
        let pipe = Pipe.make()
        process.standardOutput = pipe.fileHandleForWriting
        try process.start()
        let output = try String(decoding: #require(try pipe.fileHandleForReading.readToEnd()), as: UTF8.self)
        #expect(await process.end() == 0)

        var compared = 0
        var changing: Set<String> = []
        var last: (line: Line, table: ZoneTable)?
        for line in output.split(separator: "\n") {
            // The lines for the limits of the clock have no time.
            guard let line = Line(line) else { continue }
            let previous = last?.line.zone == line.zone ? last : nil
            let table = try previous?.table ?? MachineZones.table(String(line.zone))
            // The year 1970 begins, and the year 2100 ends, without a line.
            var seconds = [line.second]
            if let previous, previous.line.offset == line.offset {
                let length = line.second - previous.line.second
                seconds += (1..<8).map { previous.line.second + length / 8 * $0 }
            }
            for second in seconds where table.offsetSeconds(at: Timestamp(seconds: second)) != line.offset {
                Issue.record("\(line.zone) at \(Timestamp(seconds: second).iso8601) is not \(line.offset)")
            }
            compared += seconds.count
            changing.insert(table.identifier)
            last = (line, table)
        }
        for name in Set(zones).subtracting(changing) {
            let table = try MachineZones.table(name)
            let offsets = Set((0..<1590).map { table.offsetSeconds(at: Timestamp(seconds: $0 * 30 * 86_400)) })
            #expect(offsets.count == 1, "\(name) has changes that zdump does not print")
        }
        return compared
    }

    // MARK: Contents

    /// A zone file of version 2, or of version 1 without a footer.
    private func file(
        _ changes: [(Int64, UInt8)],
        offsets: [Int32],
        footer: String? = "",
        leaps: [(Int64, Int32)] = []
    ) -> [UInt8] {
        func number(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        func block(isLong: Bool) -> [UInt8] {
            func time(_ value: Int64) -> [UInt8] { isLong ? number(value) : number(Int32(truncatingIfNeeded: value)) }
            var bytes = Array("TZif".utf8)
            bytes.append(footer == nil ? 0 : UInt8(ascii: "2"))
            bytes += [UInt8](repeating: 0, count: 15)
            for count in [0, 0, leaps.count, changes.count, offsets.count, 4] { bytes += number(UInt32(count)) }
            for change in changes { bytes += time(change.0) }
            bytes += changes.map(\.1)
            for offset in offsets { bytes += number(offset) + [0, 0] }
            bytes += "ABC\0".utf8
            for leap in leaps { bytes += time(leap.0) + number(leap.1) }
            return bytes
        }
        guard let footer else { return block(isLong: false) }
        return block(isLong: false) + block(isLong: true) + Array("\n\(footer)\n".utf8)
    }

    private func offsets(_ bytes: [UInt8], _ seconds: [Int64]) throws -> [Int] {
        let table = try ZoneTable(bytes, identifier: "own")
        return seconds.map { table.offsetSeconds(at: Timestamp(seconds: $0)) }
    }

    @Test func theFirstTypeHoldsBeforeTheFirstChangeAndTheRuleAfterTheLast() throws {
        let bytes = file([(1000, 1), (2000, 2)], offsets: [60, 120, 180], footer: "ABC-1")
        let seconds: [Int64] = [-9_000_000_000, 999, 1000, 1999, 2000, 9_000_000_000]
        #expect(try offsets(bytes, seconds) == [60, 60, 120, 120, 3600, 3600])
        #expect(try offsets(file([], offsets: [60], footer: "ABC-1"), [0]) == [3600])
    }

    @Test func withoutARuleTheLastOffsetStays() throws {
        let bytes = file([(1000, 1)], offsets: [60, 120])
        #expect(try offsets(bytes, [999, 1000, 9_000_000_000]) == [60, 120, 120])
        #expect(try offsets(file([(1000, 1)], offsets: [60, 120], footer: nil), [999, 1000]) == [60, 120])
        #expect(try offsets(file([], offsets: [60]), [0]) == [60])
    }

    @Test func aFileThatCountsLeapSecondsHasTheSameChangesInUnixTime() throws {
        let bytes = file([(1000, 1), (2001, 0), (3002, 1)], offsets: [60, 120], leaps: [(1500, 1), (2500, 2)])
        #expect(try offsets(bytes, [999, 1000, 1999, 2000, 2999, 3000]) == [60, 120, 120, 60, 60, 120])
    }

    @Test func contentThatContradictsItselfIsRefused() throws {
        func error(_ bytes: [UInt8]) -> ZoneTableError? {
            do throws(ZoneTableError) {
                _ = try ZoneTable(bytes, identifier: "own")
                return nil
            } catch { return error }
        }
        let good = file([(1000, 1), (2000, 0)], offsets: [60, 120], footer: "ABC-1", leaps: [(1500, 1)])
        #expect(error(good) == nil)
        for count in 0..<good.count { #expect(error(Array(good.prefix(count))) == (count < 4 ? .format : .damaged)) }
        #expect(error(Array("Europe/Zurich\n".utf8)) == .format)
        #expect(error(file([(1000, 2)], offsets: [60, 120])) == .damaged)
        #expect(error(file([(1000, 0), (999, 0)], offsets: [60])) == .damaged)
        #expect(error(file([(.min, 0)], offsets: [60])) == .damaged)
        #expect(error(file([], offsets: [])) == .damaged)
        #expect(error(file([], offsets: [.min])) == .damaged)
        #expect(error(file([], offsets: [64_801])) == .damaged)
        #expect(error(file([], offsets: [60], footer: "CET")) == .damaged)
        var counts = good
        counts.replaceSubrange(20..<44, with: repeatElement(255, count: 24))
        #expect(error(counts) == .damaged)
    }

    @Test func aZoneThatIsAlwaysUTCIsKnown() throws {
        func isUTC(_ bytes: [UInt8]) throws -> Bool { try ZoneTable(bytes, identifier: "own").isUTC }
        #expect(try isUTC(file([], offsets: [0], footer: "UTC0")))
        #expect(try isUTC(file([], offsets: [0])))
        #expect(try !isUTC(file([], offsets: [0], footer: "ABC-1")))
        #expect(try !isUTC(file([], offsets: [0], footer: "GMT0BST,M3.5.0/1,M10.5.0")))
        #expect(try !isUTC(file([(0, 1)], offsets: [0, 60], footer: "UTC0")))
    }
}
