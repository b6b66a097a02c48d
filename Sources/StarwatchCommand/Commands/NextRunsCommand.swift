import ArgumentParser
import Starwatch
import StarwatchCore

struct NextRunsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "next-runs",
        "Show the next runs of a poll or a digest.",
        """
        One line for each run: the local time with its offset, UTC, and the effect of daylight saving time: "gap" \
        if the local time is skipped and the run comes right after, "fold" if the local time happens twice. A poll \
        with "every" is shown as if it ran now. A digest with a "window" is shown at the window's start.
        """,
        examples: ["starwatch next-runs starred_projects", "starwatch next-runs starred_projects --count 5 --json"]
    )

    @Argument(help: "The name of a poll or a digest.", completion: .pollsAndDigests)
    var name: String

    @Option(help: "The number of runs.")
    var count = 20

    @OptionGroup var arguments: ConfigurationArguments
    @OptionGroup var format: FormatArguments

    func validate() throws {
        guard (1...10_000).contains(count) else { throw ValidationError("--count must be between 1 and 10000.") }
    }

    func run() async throws {
        let options = try arguments.access.configuration(secrets: false).options
        let runs: NextRuns
        if let digest = options.digests.first(where: { $0.name.rawValue == name }) {
            do throws(ZoneSettingError) { runs = try NextRuns(digest, after: SystemClock().now, count: count) } catch {
                throw CommandError.failed("digests.\(name).timezone \(error)")
            }
        } else if let poll = options.polls.first(where: { $0.name.rawValue == name }) {
            runs = NextRuns(poll, after: SystemClock().now, count: count)
        } else {
            let names = options.polls.map(\.name.rawValue) + options.digests.map(\.name.rawValue)
            let tail = Suggestion.nearest(to: name, among: names).map { "did you mean \"\($0)\"?" }
            throw CommandError.failed(
                "There is no poll \"\(name)\"; \(tail ?? "the polls are \(names.joined(separator: ", ")).")"
            )
        }
        try format.print(runs, \.text)
    }
}

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
            guard let expression = try? CronExpression(text), let zone = try? ZoneDatabase.ofMachine.zone(timezone)
            else {
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
    ///
    /// - Throws: ``ZoneSettingError`` if its time zone cannot be read.
    init(_ digest: DigestOptions, after now: Timestamp, count: Int) throws(ZoneSettingError) {
        poll = digest.name.rawValue
        let zone = try LocalZone.zone(named: digest.timezone)()
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
