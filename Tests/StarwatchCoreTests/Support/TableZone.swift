import Foundation
import StarwatchCore

/// A zone defined by a list of changes.
struct TableZone: TimeZoneRules {
    let identifier: String
    let first: Int
    /// The times and new offsets, in order.
    let changes: [(at: Int64, offset: Int)]

    func offsetSeconds(at time: Timestamp) -> Int {
        var offset = first
        for change in changes {
            if time.milliseconds < change.at { break }
            offset = change.offset
        }
        return offset
    }

    /// The rules of a Foundation zone between two years, as a table with fast lookups.
    static func foundation(_ identifier: String, years: ClosedRange<Int>) throws -> TableZone {
        let zone = try FoundationZone(identifier)
        let start = CivilTime(year: years.lowerBound, month: 1, day: 1).timestamp().milliseconds
        let end = CivilTime(year: years.upperBound + 1, month: 1, day: 1).timestamp().milliseconds
        let step: Int64 = 6 * 3_600_000
        func offset(_ time: Int64) -> Int { zone.offsetSeconds(at: Timestamp(milliseconds: time)) }
        var changes: [(at: Int64, offset: Int)] = []
        let first = offset(start)
        var current = first
        for time in stride(from: start, to: end, by: Int(step)) where offset(time) != current {
            var low = time - step
            var high = time
            while high - low > 60_000 {
                let middle = low + (high - low) / 120_000 * 60_000
                if offset(middle) == current { low = middle } else { high = middle }
            }
            current = offset(high)
            changes.append((high, current))
        }
        return TableZone(identifier: identifier, first: first, changes: changes)
    }
}

/// The system's rules.
struct FoundationZone: TimeZoneRules {
    let zone: TimeZone
    var identifier: String { zone.identifier }

    struct Unknown: Error {}

    init(_ identifier: String) throws {
        guard let zone = TimeZone(identifier: identifier) else { throw Unknown() }
        self.zone = zone
    }

    func offsetSeconds(at time: Timestamp) -> Int {
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: time.seconds))
    }
}
