import ArgumentParser
import Foundation
import Starwatch

/// The command line `starwatch`.
@main
struct StarwatchTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "starwatch",
        abstract: "Watches starred projects on an Endorser server, and can itself be watched.",
        discussion: """
            Starwatch polls for changes, keeps them in a durable outbox, delivers notifications, and reports on \
            itself in Prometheus metrics. Commands find their configuration by --config FILE, else \
            $STARWATCH_CONFIG, ./starwatch.yaml or /etc/starwatch/starwatch.yaml.

            Exit codes: 0 good, 1 the operation failed or there is nothing of that name, 2 usage or configuration, \
            3 no agent answers.
            """,
        version: AgentVersion.current,
        groupedSubcommands: [
            CommandGroup(
                name: "Agent",
                subcommands: [
                    RunCommand.self, StatusCommand.self, ReloadCommand.self, PollCommand.self,
                    SinksCommand.self,
                    ServerCommand.self, LogsCommand.self, JournalCommand.self, IncidentCommand.self,
                ]
            ),
            CommandGroup(
                name: "Configuration",
                subcommands: [
                    InitCommand.self, DoctorCommand.self, CheckCommand.self, ConfigCommand.self, NextRunsCommand.self,
                    MetricsCommand.self, OpenAPICommand.self, VersionCommand.self,
                ]
            ),
            CommandGroup(
                name: "Data",
                subcommands: [
                    OutboxCommand.self, AskCommand<ExplainArguments, 0>.self, QuarantineCommand.self,
                    NotificationsCommand.self,
                    FeedCommand.self, DeepLinkCommand.self, DigestsCommand.self, IdentityCommand.self,
                    AccountsCommand.self,
                    StarsCommand.self, KeysCommand.self, SchemaCommand.self,
                ]
            ),
        ]
    )

    static func main() async {
        // A write beyond the file size limit must fail, not end the process.
        signal(SIGXFSZ, SIG_IGN)
        let ending = await Palette.$isOn.withValue(Palette.isWanted()) {
            await run(Array(CommandLine.arguments.dropFirst()))
        }
        if !ending.output.isEmpty { print(ending.output, terminator: ending.output.hasSuffix("\n") ? "" : "\n") }
        // In a pipe, the output comes before what is said of it.
        fflush(nil)
        for line in ending.errorLines { StandardError.say(line, .error) }
        Foundation.exit(ending.exitCode.rawValue)
    }

    /// Runs one command line. A command prints its output as it runs.
    static func run(_ arguments: [String]) async -> CommandEnding {
        do {
            var command = try parseAsRoot(verboseVersion(arguments) ?? arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return .good
        } catch {
            return CommandEnding(error, arguments: arguments)
        }
    }

    /// The `version` command for `--version --verbose`; `nil` for other arguments. ArgumentParser ignores all options
    /// beside its own `--version`.
    private static func verboseVersion(_ arguments: [String]) -> [String]? {
        let flags = Set(arguments)
        guard flags.isSuperset(of: ["--version", "--verbose"]),
            flags.isSubset(of: ["--version", "--verbose", "--json"])
        else { return nil }
        return ["version"] + flags.subtracting(["--version"]).sorted()
    }
}
