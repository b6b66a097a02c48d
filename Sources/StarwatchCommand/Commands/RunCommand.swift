import ArgumentParser
import CoreMetrics
import Foundation
import Starwatch
import StarwatchHTTP

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the agent until SIGTERM or SIGINT.",
        discussion: """
            The agent logs on standard error. On SIGTERM or SIGINT it finishes what it has begun and exits 0. On \
            SIGHUP it reads its configuration again; one that has an error, or changes storage, http.listen or \
            control.socket, is refused as a whole, and so is any while the database cannot be written.
            """
    )

    @OptionGroup var arguments: ConfigurationArguments

    func run() async throws {
        // SIGHUP would end the process until the agent handles it.
        signal(SIGHUP, SIG_IGN)
        // A closed output pipe must not end the process.
        signal(SIGPIPE, SIG_IGN)
        Allocator.returnLargeBlocks()
        let stop = StopSignals()
        // Programs that the agent starts must not inherit these variables.
        let supervisor = Supervisor(environment: ProcessInfo.processInfo.environment)
        unsetenv("NOTIFY_SOCKET")
        var access = arguments.access
        let configuration = try access.configuration()
        // A reload reads this file, even if a file with a higher priority has appeared.
        access.config = configuration.file
        // Created once per process: a reload creates a new agent, and the metrics of dependencies continue.
        let dependencies = DependencyMetrics()
        MetricsSystem.bootstrap(dependencies.factory)
        do throws(AgentError) {
            var next: AgentOptions? = configuration.options
            var previous: Agent?
            while let options = next, !stop.isAsked {
                let agent = try await Agent(
                    options: options,
                    servers: .http,
                    dependencies: dependencies,
                    after: previous,
                    reload: { [access] () throws(AgentError) in try access.reloadedOptions() }
                )
                // The next agent has taken over its state.
                previous = nil
                stop.hand(to: agent, within: options.limits.shutdown)
                next = try await agent.run(supervisor: supervisor)
                previous = agent
            }
        } catch {
            throw CommandError.agent(error)
        }
    }
}
