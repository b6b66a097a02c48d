private let dayMilliseconds: Int64 = 86_400_000
private let hourMilliseconds: Int64 = 3_600_000

extension CronExpression {
    /// The first time after `time` at which the expression fires in `zone`.
    ///
    /// Follows ISC cron. A periodic expression fires at every matching minute of real time. Any other one fires once
    /// for a skipped time, at the first instant after the gap, and once for a repeated time, on its first pass.
    ///
    /// - Returns: `nil` if the expression does not fire within 60 years.
    public func next(after time: Timestamp, in zone: some TimeZoneRules) -> Timestamp? {
        let t = time.milliseconds
        let offset = Int64(zone.offsetSeconds(at: time)) * 1000
        // Without a change of offset near `time` and near the run, the civil calendar alone decides. Measured: a run that is
        // more than a day away then takes 5 offsets of the zone, and 9 to 17 without this.
        if let local = nextLocal(after: t + offset) {
            let there = self.offset(local - offset, zone)
            let candidate = local - there
            let isNear = candidate - t <= dayMilliseconds
            if isNear ? there == offset : self.offset(t + 26 * hourMilliseconds, zone) == offset,
                there == offset || self.offset(candidate, zone) == there,
                (isNear && isPeriodic) || self.offset(candidate - 25 * hourMilliseconds, zone) == there
            {
                return Timestamp(milliseconds: candidate)
            }
        }
        // A change near midnight can put the end of one date after the beginning of the next.
        let today = Int((t + offset).floorDivided(by: dayMilliseconds))
        var day = date(onOrAfter: today - 1)
        while let current = day {
            if let run = firstRun(on: current, after: t, in: zone) {
                guard date(onOrAfter: current + 1, within: 0) != nil,
                    let other = firstRun(on: current + 1, after: t, in: zone)
                else { return Timestamp(milliseconds: run) }
                return Timestamp(milliseconds: min(run, other))
            }
            day = date(onOrAfter: current + 1)
        }
        return nil
    }

    /// The longest time between two consecutive runs in the year after `time`.
    ///
    /// Covers both changes of daylight saving time. For an expression that fires less than once a year, it is the gap
    /// between the next two runs.
    public func longestGap(from time: Timestamp, in zone: some TimeZoneRules) -> Duration {
        guard let first = next(after: time, in: zone) else { return .zero }
        var longest = longestGapOfDay
        let today = Int((first.milliseconds + offset(first.milliseconds, zone)).floorDivided(by: dayMilliseconds))
        var day = date(onOrAfter: today, within: 0) ?? today - 1
        while day <= today + 366 {
            let midnight = Int64(day) * dayMilliseconds
            let before = offset(midnight - 36 * hourMilliseconds, zone)
            if before == offset(midnight + 48 * hourMilliseconds, zone) {
                let last = midnight + Int64(lastTime) * 60_000 - before
                longest = max(longest, gap(after: last, zone) ?? 0)
            } else if var run = firstRun(on: day, after: midnight - 48 * hourMilliseconds, in: zone) {
                while let gap = gap(after: run, zone), run + offset(run, zone) < midnight + dayMilliseconds {
                    longest = max(longest, gap)
                    run += gap
                }
            }
            guard let next = date(onOrAfter: day + 1) else { break }
            day = next
        }
        return .milliseconds(longest)
    }

    /// The effect of daylight saving time on a run at `time`.
    func daylightSaving(at time: Timestamp, in zone: some TimeZoneRules) -> ScheduledRun.DaylightSaving {
        let t = time.milliseconds
        let local = t + offset(t, zone)
        if !matches(localMilliseconds: local) { return .gap }
        let second = t.floorDivided(by: 1000) * 1000
        let segments = ZoneSegment.segments(
            of: zone,
            from: second - 30 * hourMilliseconds,
            to: second + 30 * hourMilliseconds
        )
        let passes = segments.count { $0.localStart <= local && local < $0.localEnd }
        return passes > 1 ? .fold : .none
    }

    private func offset(_ time: Int64, _ zone: some TimeZoneRules) -> Int64 {
        Int64(zone.offsetSeconds(at: Timestamp(milliseconds: time))) * 1000
    }

    private func gap(after time: Int64, _ zone: some TimeZoneRules) -> Int64? {
        next(after: Timestamp(milliseconds: time), in: zone).map { $0.milliseconds - time }
    }

    private var longestGapOfDay: Int64 {
        var longest = 0
        var previous: Int?
        var at = time(atOrAfter: 0)
        while let minute = at {
            if let previous { longest = max(longest, minute - previous) }
            previous = minute
            at = time(atOrAfter: minute + 1)
        }
        return Int64(longest) * 60_000
    }

    /// The next matching local time in a calendar without changes of offset.
    private func nextLocal(after local: Int64) -> Int64? {
        let minute = local.floorDivided(by: 60_000) + 1
        let day = Int(minute.floorDivided(by: 1440))
        guard let found = date(onOrAfter: day) else { return nil }
        if found == day {
            if let time = time(atOrAfter: Int(minute) - day * 1440) {
                return Int64(day * 1440 + time) * 60_000
            }
            guard let later = date(onOrAfter: day + 1), let time = time(atOrAfter: 0) else { return nil }
            return Int64(later * 1440 + time) * 60_000
        }
        return time(atOrAfter: 0).map { Int64(found * 1440 + $0) * 60_000 }
    }

    /// The first run after `time` that belongs to a matching date, in the order of real time.
    private func firstRun(on day: Int, after time: Int64, in zone: some TimeZoneRules) -> Int64? {
        let midnight = Int64(day) * dayMilliseconds
        let nextMidnight = midnight + dayMilliseconds
        let segments = ZoneSegment.segments(
            of: zone,
            from: midnight - 36 * hourMilliseconds,
            to: midnight + 48 * hourMilliseconds
        )
        // The local time reached by the earlier segments.
        var reached = segments[0].localStart
        for segment in segments {
            if !isPeriodic, segment.localStart > reached, segment.start > time,
                firstTime(from: max(reached, midnight), to: min(segment.localStart, nextMidnight), on: day) != nil
            {
                return segment.start
            }
            var from = max(segment.localStart, midnight, time + segment.offset + 1)
            if !isPeriodic { from = max(from, reached) }
            if let local = firstTime(from: from, to: min(segment.localEnd, nextMidnight), on: day) {
                return local - segment.offset
            }
            reached = max(reached, segment.localEnd)
        }
        return nil
    }

    private func firstTime(from: Int64, to: Int64, on day: Int) -> Int64? {
        guard from < to else { return nil }
        let midnight = Int64(day) * dayMilliseconds
        let minute = (from - midnight + 59_999) / 60_000
        guard let time = time(atOrAfter: Int(minute)) else { return nil }
        let local = midnight + Int64(time) * 60_000
        return local < to ? local : nil
    }
}
