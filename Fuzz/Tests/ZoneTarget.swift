@testable import StarwatchCore

extension FuzzTarget {
    /// A zone file or a rule is read or refused. One that is read has an offset within bounds at any time, and schedules that
    /// go forward.
    static let timeZone = FuzzTarget(
        name: "time-zone",
        words: [
            "TZif2", "TZif\u{0}", "\u{0}\u{0}\u{0}\u{1}", "\u{0}\u{0}\u{0}\u{0}", "\n", ",M3.5.0", ",M10.5.0/3",
            "/-167", "/167", "J365", ",0/0", "CET-1CEST", "<+03>-3", "<-02>2<-01>", ":30", "24",
        ],
        tries: 20_000
    ) { input in
        let zone: any TimeZoneRules
        if input.starts(with: "TZif".utf8) {
            guard let table = try? ZoneTable(input, identifier: "own") else { return nil }
            zone = table
        } else {
            guard let rule = ZoneRule(input.text) else { return nil }
            zone = rule
        }
        guard let daily = try? CronExpression("30 2 * * *") else { return "no schedule" }
        for year in [-9000, 1900, 1970, 2026, 2037, 2100, 9000] {
            let time = CivilTime(year: year, month: 3, day: 29).timestamp()
            for days in 0..<3 {
                let offset = zone.offsetSeconds(at: time + .seconds(days * 86_400))
                if abs(offset) > 18 * 3600 { return "an offset beyond 18 hours" }
            }
            if let run = daily.next(after: time, in: zone), run <= time { return "a run in the past" }
        }
        return nil
    }
}
