import StarwatchCore

/// A slow reference implementation: a cron expression as sets, checked minute by minute.
struct CronOracle {
    struct Field {
        let text: String
        let values: Set<Int>
        var isStar: Bool { text.hasPrefix("*") }

        static func random(_ range: ClosedRange<Int>, star: Int, using random: inout SplitMix64) -> Field {
            switch Int.random(in: 0..<10, using: &random) {
            case ..<star:
                return Field(text: "*", values: Set(range))
            case star:
                let step = Int.random(in: 1...max(2, range.count / 2), using: &random)
                return Field(
                    text: "*/\(step)",
                    values: Set(stride(from: range.lowerBound, through: range.upperBound, by: step))
                )
            case star + 1:
                let low = Int.random(in: range, using: &random)
                let high = Int.random(in: low...range.upperBound, using: &random)
                let step = Int.random(in: 1...3, using: &random)
                return Field(text: "\(low)-\(high)/\(step)", values: Set(stride(from: low, through: high, by: step)))
            default:
                let values = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    Int.random(in: range, using: &random)
                }
                return Field(text: values.map(String.init).joined(separator: ","), values: Set(values))
            }
        }
    }

    let minute, hour, day, month, weekday: Field

    var text: String { [minute, hour, day, month, weekday].map(\.text).joined(separator: " ") }

    static func random(using random: inout SplitMix64) -> CronOracle {
        CronOracle(
            minute: .random(0...59, star: 2, using: &random),
            hour: .random(0...23, star: 4, using: &random),
            day: .random(1...31, star: 7, using: &random),
            month: .random(1...12, star: 8, using: &random),
            weekday: .random(0...6, star: 6, using: &random)
        )
    }

    func matches(_ t: CivilTime) -> Bool {
        minute.values.contains(t.minute) && hour.values.contains(t.hour) && matchesDay(t)
    }

    func matchesDay(_ t: CivilTime) -> Bool {
        let dayMatches = day.values.contains(t.day)
        let weekdayMatches = weekday.values.contains(t.weekday)
        return month.values.contains(t.month)
            && (day.isStar || weekday.isStar ? dayMatches && weekdayMatches : dayMatches || weekdayMatches)
    }

    /// All runs in `from < run <= to`; both ends are whole minutes.
    func runs(from: Timestamp, to: Timestamp, zone: TableZone) -> [Timestamp] {
        var runs: [Timestamp] = []
        // Starts two days before, to know the local times that have already occurred.
        var time = from.milliseconds - 2 * 86_400_000
        var reached = Int64.min
        while time <= to.milliseconds {
            let now = Timestamp(milliseconds: time)
            let offset = zone.offsetSeconds(at: now)
            let local = time + Int64(offset) * 1000
            var fires = matches(CivilTime(now, offsetSeconds: offset))
            if !hour.isStar {
                if local <= reached { fires = false }
                if reached != .min {
                    for skipped in stride(from: reached + 60_000, to: local, by: 60_000)
                    where matches(CivilTime(Timestamp(milliseconds: skipped))) {
                        fires = true
                    }
                }
            }
            if fires, now > from { runs.append(now) }
            reached = max(reached, local)
            time += 60_000
        }
        return runs
    }
}
