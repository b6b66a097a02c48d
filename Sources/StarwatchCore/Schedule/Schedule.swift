/// The schedule of a poll.
public enum Schedule: Sendable {
    /// At the times of a cron expression in a time zone.
    case cron(CronExpression, zone: any TimeZoneRules)
    /// At multiples of an interval since the last run; the interval is at least ``minimumInterval``.
    case every(Duration)

    /// One second.
    public static let minimumInterval = Duration.seconds(1)

    /// The schedule with its zone's present rules, for a computation of several runs.
    var current: Schedule {
        switch self {
        case .cron(let expression, let zone): .cron(expression, zone: zone.current)
        case .every: self
        }
    }

    /// The first run after `time`; for an interval, one interval later.
    ///
    /// - Returns: `nil` if a cron expression does not fire within 60 years.
    public func next(after time: Timestamp) -> Timestamp? {
        switch current {
        case .cron(let expression, let zone): expression.next(after: time, in: zone)
        case .every(let interval): time + max(interval, Self.minimumInterval)
        }
    }

    /// The next `count` runs after `time`, in order.
    public func occurrences(after time: Timestamp, count: Int) -> [ScheduledRun] {
        var runs: [ScheduledRun] = []
        var last = time
        let current = current
        while runs.count < count, let next = current.next(after: last) {
            switch current {
            case .cron(let expression, let zone):
                runs.append(
                    ScheduledRun(
                        time: next,
                        offsetSeconds: zone.offsetSeconds(at: next),
                        dst: expression.daylightSaving(at: next, in: zone)
                    )
                )
            case .every:
                runs.append(ScheduledRun(time: next, offsetSeconds: 0, dst: .none))
            }
            last = next
        }
        return runs
    }

    /// The time between the next two runs after `time`; `nil` if there are no two.
    public func interval(after time: Timestamp) -> Duration? {
        let current = current
        return current.next(after: time).flatMap { first in current.next(after: first).map { $0 - first } }
    }

    /// The longest time between two runs in the year after `time`: `starwatch_poll_interval_seconds`.
    public func longestGap(from time: Timestamp) -> Duration {
        switch current {
        case .cron(let expression, let zone): expression.longestGap(from: time, in: zone)
        case .every(let interval): max(interval, Self.minimumInterval)
        }
    }

    /// The age at which data is stale, unless a poll says it: the longest gap plus an hour, at least 4 h. A run that
    /// fails, of a schedule with long gaps, is noticed an hour after it.
    public func staleAfter(from time: Timestamp) -> Duration { Self.staleAfter(longestGap: longestGap(from: time)) }

    package static func staleAfter(longestGap gap: Duration) -> Duration {
        max(.seconds(4 * 3600), gap + .seconds(3600))
    }
}

extension Schedule: Equatable {
    /// Zones are equal if their identifiers are.
    public static func == (a: Schedule, b: Schedule) -> Bool {
        switch (a, b) {
        case (.cron(let x, let zoneX), .cron(let y, let zoneY)): x == y && zoneX.identifier == zoneY.identifier
        case (.every(let x), .every(let y)): x == y
        default: false
        }
    }
}

/// Spreads the runs of many agents over time, to protect the server from simultaneous requests.
public enum Splay {
    /// A delay in `0 ..< splay` that depends only on the instance and the poll, so it survives restarts.
    public static func delay(instance: String, poll: PollName, within splay: Duration) -> Duration {
        let milliseconds = splay.wholeMilliseconds
        guard milliseconds > 0 else { return .zero }
        var hash = (Array(instance.utf8) + [0] + poll.rawValue.utf8).stableHash
        // FNV's high bits vary little for short texts, and they select the delay.
        hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
        hash = (hash ^ hash >> 33) &* 0xc4ce_b9fe_1a85_ec53
        hash ^= hash >> 33
        return .milliseconds(Int64(hash.multipliedFullWidth(by: UInt64(milliseconds)).high))
    }
}
