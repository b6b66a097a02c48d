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
        // Until the agent listens for it, SIGHUP would end the process.
        signal(SIGHUP, SIG_IGN)
        // A reader of our output that goes away is no reason to end.
        signal(SIGPIPE, SIG_IGN)
        Allocator.returnLargeBlocks()
        let stop = StopSignals()
        // Not for the programs that the agent starts.
        let supervisor = Supervisor(environment: ProcessInfo.processInfo.environment)
        unsetenv("NOTIFY_SOCKET")
        var access = arguments.access
        let configuration = try access.configuration()
        // A reload reads this file, also when a file that would be found earlier has appeared.
        access.config = configuration.file
        // Once a process: a reload makes a new agent, and what dependencies report goes on.
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
                // All of it that goes on is in the next one.
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
