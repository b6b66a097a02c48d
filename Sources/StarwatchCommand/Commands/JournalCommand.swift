import ArgumentParser
import Starwatch
import StarwatchCore

struct JournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "journal",
        "Print who did what.",
        """
        Lists what operators changed, each reload with the names of the changed settings, and each end of a run, oldest \
        first. The database keeps them for 90 days. Uses the running agent if there is one, else the database. The \
        output names no person that the agent works for, and no project.
        """,
        examples: [
            "starwatch journal --since 24h", "starwatch journal --limit 20 --json",
            "starwatch journal --database /var/lib/starwatch/starwatch.db",
        ]
    )

    @Option(
        help: "Only entries since this time, such as 2026-01-01T12:00:00Z or 02:00, or of this last period, such as 2h."
    )
    var since: String?

    @Option(help: "The most entries, the newest, from 1 to \(JournalQuery.listLimit).")
    var limit = JournalQuery().limit

    @Option(
        help: ArgumentHelp(
            "Read this database, without an agent, if the configuration is gone or has errors.",
            valueName: "file"
        )
    )
    var database: String?

    @OptionGroup var arguments: AgentArguments

    func validate() throws { _ = try OptionValue.time(since, now: Timestamp(seconds: 0)) }

    func run() async throws {
        var query = JournalQuery()
        query.since = try OptionValue.time(since, now: SystemClock().now)?.iso8601
        query.limit = limit
        if let database {
            return try arguments.print(JournalListing.read(database: database, query), IncidentCommand.journal)
        }
        do {
            try arguments.print(await arguments.ask(ControlAPI.listJournal, query), IncidentCommand.journal)
        } catch let error as CommandError {
            throw error.advisingDatabase
        }
    }
}
