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

    func validate() throws { _ = try OptionValue.time(since, now: Timestamp(seconds: 0)) }

    func run() async throws {
        let place = try configuration.access.database(database)
        let path = place.database ?? ""
        let now = SystemClock().now
        let asked = try OptionValue.time(since, now: now)
        var story = IncidentStory.read(database: path, version: AgentVersion.current)
        guard story.box != nil || story.record != nil else {
            let reasons = story.sources.compactMap(\.problem).joined(separator: " ")
            throw CommandError.failed("Neither the black box nor the database of \(path) can be read: \(reasons)")
        }
        if story.isRunning, !place.socket.isEmpty { await Self.ask(at: place.socket, for: &story) }
        let start = asked ?? min(story.newest ?? now, now) - .seconds(7200)
        try format.print(story.report(since: start, until: now), IncidentCommand.page)
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
