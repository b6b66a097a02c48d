import CoreMetrics
import Logging
import ServiceLifecycle
import Starwatch
import StarwatchHTTP
import UnixSignals

/// Watches a feed of software releases: `ReleaseWatcher SERVER FOLDER`.
///
/// The article "Your own polls" of the library's documentation explains it.
@main
struct ReleaseWatcher {
    static func main() async throws {
        guard CommandLine.arguments.count == 3 else { fatalError("Usage: ReleaseWatcher SERVER FOLDER") }
        let (server, folder) = (CommandLine.arguments[1], CommandLine.arguments[2])

        let dependencies = DependencyMetrics()
        MetricsSystem.bootstrap(dependencies.factory)

        var options = AgentOptions()
        options.storage.path = folder + "/releases.db"
        options.control.socket = folder + "/releases.sock"
        options.http.listen = "127.0.0.1:0"
        options.clock.source = .system
        let agent = try await Agent(options: options, servers: .http, dependencies: dependencies)

        let poll = ReleasePoll(server: server, storage: agent.storage, sink: LineSink())
        try await agent.pollManager.schedule(poll.schedule)

        let group = ServiceGroup(
            services: [AgentService(agent)],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "releases", factory: { _ in SwiftLogNoOpLogHandler() })
        )
        try await group.run()
    }
}
