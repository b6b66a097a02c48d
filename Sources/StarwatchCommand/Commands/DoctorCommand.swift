import ArgumentParser

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "doctor",
        "Check an installation: files, server, token, sinks, scraping.",
        """
        Checks the configuration, the modes of its files, every page of the database, the running agent, the server's name, connection, \
        certificate and dialect, the clock, the token, whether each sink can be reached, the last scrape, the \
        version of the rules in Prometheus, and whether an alert would fire and arrive if the agent vanished. Runs every poll once, with a database of its own that it deletes; a running \
        agent also tries its own token. Delivers nothing, but sends a GET request to webhook and ntfy URLs; an \
        answer means that something is there, and 'starwatch sinks test' shows more. Exits 1 if there are problems.
        """,
        examples: ["sudo starwatch doctor", "starwatch doctor --prometheus http://127.0.0.1:9090 --json"]
    )

    @Option(help: ArgumentHelp("The Prometheus server whose rules and alerts to check.", valueName: "url"))
    var prometheus: String?

    @OptionGroup var arguments: AgentArguments

    func validate() throws {
        guard let prometheus, !prometheus.hasPrefix("http://"), !prometheus.hasPrefix("https://") else { return }
        throw ValidationError("--prometheus must be a URL, such as http://127.0.0.1:9090.")
    }

    func run() async throws {
        let report = try await Doctor(access: arguments.access, prometheus: prometheus).report()
        try arguments.print(report, isGood: !report.hasProblems, \.text)
    }
}
