import ArgumentParser
import Starwatch
import StarwatchCore

struct IncidentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "incident",
        "Tell what happened, even if the agent is gone.",
        """
        Reads the black box, a file beside the database that survives a kill and a full disk, and the journal and the \
        warnings of the stored log. Needs no running agent and writes nothing. If the database cannot be read, it tells \
        what the black box has, and says so. Times are in UTC. The output names no person and no project, so it can be \
        shared.
        """,
        examples: [
            "starwatch incident", "starwatch incident --since 02:00",
            "starwatch incident --database /var/lib/starwatch/starwatch.db --json",
        ]
    )

    @Option(
        help: """
            Since this time, such as 2026-01-01T12:00:00Z or 02:00 in UTC, or of this last period, such as 2h. By \
            default the 2 hours before the last record.
            """
    )
    var since: String?

    @Option(help: ArgumentHelp("The database, if the configuration is gone or has errors.", valueName: "file"))
    var database: String?

    @OptionGroup var configuration: ConfigurationArguments
    @OptionGroup var format: FormatArguments

    func validate() throws { _ = try PastTime.parse(since, now: Timestamp(seconds: 0)) }

    func run() async throws {
        let place = try configuration.access.database(database)
        let path = place.database ?? ""
        let now = SystemClock().now
        let asked = try PastTime.parse(since, now: now)
        var story = IncidentStory.read(database: path, version: AgentVersion.current)
        guard story.box != nil || story.record != nil else {
            let reasons = story.sources.compactMap(\.problem).joined(separator: " ")
            throw CommandError.failed("Neither the black box nor the database of \(path) can be read: \(reasons)")
        }
        if story.isRunning, !place.socket.isEmpty { await Self.ask(at: place.socket, for: &story) }
        let start = asked ?? min(story.newest ?? now, now) - .seconds(7200)
        try format.print(story.report(since: start, until: now), IncidentText.page)
    }

    /// Asks the running agent, which answers also if it waits for a lock on its database, for its problems. Nobody listens
    /// while it starts.
    private static func ask(at socket: String, for story: inout IncidentStory) async {
        let client = ControlClient(socketPath: socket, timeout: AgentAccess.lockWait)
        do throws(ControlError) {
            story.present = try await client.perform(ControlAPI.status).problems?.map(IncidentReport.OpenProblem.init)
            story.answers = true
        } catch {
            story.answers = error.kind == .timedOut ? false : nil
        }
    }
}

/// A time in the past, as a person writes it.
enum PastTime {
    /// - Returns: `nil` for no text.
    /// - Throws: A usage error for a text that is none.
    static func parse(_ text: String?, now: Timestamp) throws -> Timestamp? {
        guard let text else { return nil }
        if let time = Timestamp(iso8601: text) { return time }
        if let period = try? DurationText.parse(text) { return now - period }
        if let time = clock(text, before: now) { return time }
        throw ValidationError(
            "--since must be a time such as 2026-01-01T12:00:00Z or 02:00 in UTC, or a period such as 2h"
        )
    }

    /// The last time at which a clock in UTC showed `HH:MM`.
    private static func clock(_ text: String, before now: Timestamp) -> Timestamp? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.count == 2 }), let hour = Int64(parts[0]),
            let minute = Int64(parts[1]), (0...23).contains(hour), (0...59).contains(minute)
        else { return nil }
        let day: Int64 = 86_400_000
        let time = now.milliseconds / day * day + (hour * 60 + minute) * 60_000
        return Timestamp(milliseconds: time > now.milliseconds ? time - day : time)
    }
}
