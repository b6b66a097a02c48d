import ArgumentParser
import Glibc
import Starwatch
import StarwatchCore

struct SinksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sinks",
        abstract: "Test a sink, or end a wait that it asked for.",
        subcommands: [Test.self] + commands
    )

    struct Test: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            "test",
            "Send test notifications to a sink.",
            """
            Sends one change with a link, several changes and a notice, and shows what the service answered to one that it \
            did not accept, without secrets. The running agent sends them; if there is none, this command does. They are \
            not counted, and are sent also while the agent pauses the sink. Only a feed keeps them, as it keeps others. Exits 1 \
            if the sink does not accept one.
            """,
            waiting: ControlAPI.testSink.patience,
            examples: ["starwatch sinks test hook", "starwatch sinks test hook --json"]
        )

        @OptionGroup var sink: SinkArgument
        @OptionGroup var arguments: AgentArguments

        func run() async throws {
            let report = try await test()
            try arguments.print(report, isGood: report.result == .ok, \.text)
        }

        private func test() async throws -> SinkTestReport {
            let access = arguments.access
            let agent = try access.running()
            do {
                return try await agent.perform(ControlAPI.testSink, sink.name)
            } catch {
                guard error.kind == .unreachable, access.socket == nil else { throw error }
            }
            let configuration = try access.trustedConfiguration()
            let options = configuration.options
            if options.delivery.sinks.first(where: { $0.name == sink.name })?.kind.type.sendsRequests == false {
                // Root can write and run what the agent's user cannot, and would leave files of its own.
                try await AgentUser.become(for: options)
                guard !ServiceUser.isNeeded(for: configuration.file) else {
                    throw CommandError.failed("Start the agent first; only its own user can test this sink.")
                }
            }
            return try await Trial.sink(sink.name, of: options)
        }
    }
}

extension SinksCommand: OneQuestion {
    static let question = Question<SinkArgument>(
        configuration: CommandConfiguration(
            "clear-wait",
            "End the wait that a sink asked for with Retry-After.",
            """
            Its notifications are sent at once, unless the sink's hours hold them. Use it only if the wait is a mistake. Of a \
            sink whose address each account brings, name the account.
            """,
            examples: ["starwatch sinks clear-wait hook", "starwatch sinks clear-wait hook --account did:ethr:0x…"]
        )
    ) { sink, arguments in
        try arguments.print(await arguments.ask(ControlAPI.clearSinkWait, sink.name)) { report in
            guard let until = report.waitedUntil else { return "There is no wait." }
            return "The wait until \(until) is over. Notifications that waited: \(report.notifications)."
        }
    }
}

/// The name of a sink.
struct SinkArgument: ParsableArguments {
    @Argument(help: "The sink's name in the configuration.", completion: .sinks)
    var name: String
}
