@testable import StarwatchCore

/// Finds the runs of an expression by walking over every minute of the wall clock, as a person would do. It shares only
/// the calendar with the product.
struct MinuteWalker {
    private let oracle: CronOracle
    /// The matching minutes of a day.
    private let minutes: [Bool]

    init(_ oracle: CronOracle) {
        self.oracle = oracle
        var minutes = [Bool](repeating: false, count: 1440)
        for hour in oracle.hour.values {
            for minute in oracle.minute.values { minutes[hour * 60 + minute] = true }
        }
        self.minutes = minutes
    }

    /// All runs in `from < run <= to`, in seconds, also for offsets that are not whole minutes.
    func runs(from: Int64, to: Int64, zone: ZoneTable) -> [Int64] {
        // Starts two days before, to know the wall-clock times that have already occurred.
        let begin = from - 172_800
        let borders = [begin] + zone.changes.map(\.second).filter { $0 > begin && $0 <= to } + [to + 1]
        var runs: [Int64] = []
        var reached: Int64?
        var day: Int64 = .min
        var dayMatches = false
        func matches(_ local: Int64) -> Bool {
            let minute = local >= 0 ? local / 60 : (local - 59) / 60
            let today = minute >= 0 ? minute / 1440 : (minute - 1439) / 1440
            guard minutes[Int(minute - today * 1440)] else { return false }
            if today != day {
                day = today
                dayMatches = oracle.matchesDay(CivilTime(Timestamp(seconds: today * 86_400)))
            }
            return dayMatches
        }
        for (start, end) in zip(borders, borders.dropFirst()) {
            let offset = Int64(zone.offsetSeconds(at: Timestamp(seconds: start)))
            let first = start + offset
            // The first whole minute of the wall clock.
            var local = first + ((60 - first % 60) % 60 + 60) % 60
            if !oracle.hour.isStar, let reached, first > reached {
                // Skipped minutes all run at once, now.
                var skipped = reached + ((60 - reached % 60) % 60 + 60) % 60
                while skipped < first, !matches(skipped) { skipped += 60 }
                if skipped < first, start > from, runs.last != start { runs.append(start) }
            }
            while local < end + offset {
                let isSecondPass = !oracle.hour.isStar && reached.map { local < $0 } ?? false
                let time = local - offset
                if !isSecondPass, time > from, matches(local), runs.last != time { runs.append(time) }
                local += 60
            }
            reached = max(reached ?? .min, end + offset)
        }
        return runs
    }
}
