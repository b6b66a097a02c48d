@testable import StarwatchCore

extension FuzzTarget {
    /// An expression is read or refused. One that is read comes back the same, and its runs are those minutes, and no
    /// others, that match it; also where a zone moves its clocks.
    ///
    /// The first bytes say where to begin and how the zone moves.
    static let cron = FuzzTarget(
        name: "cron",
        words: [
            "*", "*/", "/", "-", ",", " ", "0", "59", "23", "31", "29", "2", "12", "7", "jan", "sun", "fri-sun",
            "\u{2003}",
        ],
        tries: 6000
    ) { input in
        guard input.count > 6, let expression = try? CronExpression(Array(input[6...]).text) else { return nil }
        guard (try? CronExpression(expression.text)) == expression else { return "a text that does not come back" }
        let begin = input[..<4].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        var time = Timestamp(milliseconds: begin * 1000 + Int64(input[4]))
        let zone = MovingZone(change: begin * 1000 + 3_600_000, step: (Int(input[5]) - 128) * 60)
        _ = expression.longestGap(from: time, in: FixedZone.utc)
        for _ in 0..<3 {
            guard let run = expression.next(after: time, in: FixedZone.utc) else { break }
            guard run > time, expression.matches(localMilliseconds: run.milliseconds) else {
                return "no run of its own"
            }
            var minute = (time.milliseconds / 60_000 + 1) * 60_000
            // Two days are enough to see that none is left out.
            for _ in 0..<2880 where minute < run.milliseconds {
                if expression.matches(localMilliseconds: minute) { return "a run left out" }
                minute += 60_000
            }
            guard let moved = expression.next(after: time, in: zone), moved > time else {
                return "no run where clocks move"
            }
            _ = expression.daylightSaving(at: moved, in: zone)
            time = run
        }
        return nil
    }
}

/// A zone that moves its clocks once, and a day later back.
private struct MovingZone: TimeZoneRules {
    let identifier = "moving"
    let change: Int64
    let step: Int

    func offsetSeconds(at time: Timestamp) -> Int {
        (change..<change + 86_400_000).contains(time.milliseconds) ? step : 0
    }
}
