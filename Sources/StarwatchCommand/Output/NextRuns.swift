import Starwatch
import StarwatchCore

/// The next runs of a poll or a digest.
struct NextRuns: Sendable, Encodable {
    struct Run: Sendable, Encodable {
        /// RFC 3339 with the zone's offset.
        var local: String
        /// RFC 3339, UTC.
        var utc: String
        /// `gap` or `fold`; `nil` on other days.
        var dst: String?
    }

    var poll: String
    var timezone: String
    var runs: [Run]

    /// The next `count` runs after `now`. One with an interval is taken to run now.
    init(_ poll: PollOptions, after now: Timestamp, count: Int) {
        self.poll = poll.name.rawValue
        let schedule: Schedule
        switch poll.timing {
        case .cron(let text, let timezone):
            self.timezone = timezone
            // The loader has refused what is neither a cron expression nor a zone.
            guard let expression = try? CronExpression(text), let zone = FoundationTimeZone(identifier: timezone) else {
                runs = []
                return
            }
            schedule = .cron(expression, zone: zone)
        case .every(let interval):
            timezone = "UTC"
            schedule = .every(interval)
        }
        runs = schedule.occurrences(after: now, count: count).map(Self.run)
    }

    /// The next `count` times that a digest comes after `now`.
    init(_ digest: DigestOptions, after now: Timestamp, count: Int, local: LocalZone = LocalZone()) {
        poll = digest.name.rawValue
        let zone = digest.timezone.flatMap { FoundationTimeZone(identifier: $0) } ?? local.current
        timezone = digest.timezone ?? zone.identifier
        let all = digest.times.compactMap { $0.schedule(in: zone) }.flatMap { $0.occurrences(after: now, count: count) }
        runs = all.sorted { $0.time < $1.time }.prefix(count).map(Self.run)
    }

    private static func run(_ run: ScheduledRun) -> Run {
        Run(
            local: Self.local(run.time, offsetSeconds: run.offsetSeconds),
            utc: Self.withoutFraction(run.time.iso8601) + "Z",
            dst: run.dst == .none ? nil : run.dst.rawValue
        )
    }

    /// A line a run.
    var text: String {
        guard !runs.isEmpty else { return "The schedule does not fire in the next 60 years." }
        return runs.map { [$0.local, $0.utc, $0.dst].compactMap { $0 }.joined(separator: "  ") }
            .joined(separator: "\n")
    }

    private static func local(_ time: Timestamp, offsetSeconds: Int) -> String {
        let shifted = Timestamp(milliseconds: time.milliseconds + Int64(offsetSeconds) * 1000).iso8601
        let minutes = abs(offsetSeconds) / 60
        return withoutFraction(shifted) + (offsetSeconds < 0 ? "-" : "+")
            + "\(String(minutes / 60, width: 2)):\(String(minutes % 60, width: 2))"
    }

    private static func withoutFraction(_ text: String) -> String { String(text.prefix(19)) }
}
