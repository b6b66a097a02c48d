import Logging
import ServiceLifecycle
import StarwatchPolling
import UnixSignals

/// Polls starred projects without an agent: `HelloPoll SERVER FOLDER PLAN…`.
///
/// To try it, start the mock server, and name some of the plans that `SERVER/mock/plans` lists:
///
///     mock-endorser --dialect canonical --port 8080 --changes 3 --changes-every 5s
///     HelloPoll http://127.0.0.1:8080 /tmp PLAN…
@main
struct HelloPoll {
    static func main() async throws {
        guard CommandLine.arguments.count > 3 else { fatalError("Usage: HelloPoll SERVER FOLDER PLAN…") }
        let (server, folder) = (CommandLine.arguments[1], CommandLine.arguments[2])

        // The watermark survives a restart, because it is in the manager's database.
        let manager = try PollManager(database: folder + "/hello.db", program: "HelloPoll/1.0")
        let poll = ProjectPoll(server: server, plans: Array(CommandLine.arguments[3...]), manager: manager)
        try await manager.schedule(poll.schedule)

        let group = ServiceGroup(
            services: [manager],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "hello", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        try await group.run()
        await manager.close()
    }
}
