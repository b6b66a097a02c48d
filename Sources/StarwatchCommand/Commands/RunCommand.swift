import ArgumentParser
import CoreMetrics
import Dispatch
import Foundation
import Glibc
import Starwatch
import StarwatchCore
import StarwatchHTTP
import Synchronization

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "run",
        "Run the agent until SIGTERM or SIGINT.",
        """
        The agent logs to standard error. On SIGTERM or SIGINT it finishes the work in progress and exits 0. On \
        SIGHUP it reloads its configuration. A configuration with errors, or with a changed storage, http.listen \
        or control.socket, is rejected as a whole, and so is any configuration while the database cannot be written.
        """,
        examples: ["starwatch run", "starwatch run --config /etc/starwatch/starwatch.yaml"]
    )

    @OptionGroup var arguments: ConfigurationArguments

    func run() async throws {
        // SIGHUP would end the process before the agent handles it.
        signal(SIGHUP, SIG_IGN)
        // A closed output must not end the process.
        signal(SIGPIPE, SIG_IGN)
        ProcessMemory.returnLargeBlocks()
        ProcessMemory.hide()
        OpenFiles.raise(to: 4096)
        guard OpenFiles.limit >= OpenFiles.least else {
            // Parts of it end the process when they get none.
            let advice = "raise LimitNOFILE in the unit, or run 'ulimit -n 1024' first"
            throw CommandError.failed(
                "The agent needs \(OpenFiles.least) open files, and the limit is \(OpenFiles.limit); \(advice)."
            )
        }
        let stop = StopSignals()
        // Programs that the agent starts must not inherit the socket.
        let supervisor = Supervisor(environment: ProcessInfo.processInfo.environment)
        unsetenv("NOTIFY_SOCKET")
        CrashNotes.install(hasWatchdog: supervisor.hasWatchdog)
        var access = arguments.access
        let configuration = try access.trustedConfiguration()
        let options = try await AgentUser.become(for: configuration.options)
        // A reload reads the same file, even if a file with precedence has appeared.
        access.config = configuration.file
        // Once for the process: the metrics of dependencies survive a reload, which makes a new agent.
        let dependencies = DependencyMetrics()
        MetricsSystem.bootstrap(dependencies.factory)
        async let _ = ProcessMemory.releaseStartupPages(after: .seconds(5))
        let (notes, path) = (access.notes, access.loader.absolute(configuration.file))
        defer { notes.remove(path) }
        let runs = AgentRuns(access: access, dependencies: dependencies, supervisor: supervisor, stop: stop) {
            notes.note($0.control.socket, database: $0.storage.path, of: path)
        }
        try await runs.all(from: options)
    }
}

/// The runs of a process: one, and another after each reload.
private struct AgentRuns {
    let access: AgentAccess
    let dependencies: DependencyMetrics
    let supervisor: Supervisor
    let stop: StopSignals
    /// Called when the first agent has its database.
    let whenOpen: (AgentOptions) -> Void

    /// Runs until the process must end.
    ///
    /// - Throws: ``CommandError/printed(_:)`` if the log has the error, else ``AgentError``.
    func all(from first: AgentOptions) async throws {
        var next: AgentOptions? = first
        var previous: Agent?
        while let options = next, !stop.isAsked {
            do {
                let agent = try await agent(options, after: previous)
                if previous == nil { whenOpen(options) }
                // The next agent has taken over its counters.
                previous = nil
                stop.hand(to: agent, within: options.limits.shutdown)
                next = try await agent.run(supervisor: supervisor)
                previous = agent
            } catch {
                // A start cannot use what the configuration names, and another one would not help.
                var error = error
                error.concernsDatabase = false
                guard await AgentLog.noteEnd(by: error, of: options) else { throw error }
                throw CommandError.printed(CommandExitCode(error))
            }
        }
        // Asked to stop between the two agents of a reload.
        if next != nil { await previous?.endInsteadOfReload(.stopped) }
    }

    private func agent(_ options: AgentOptions, after previous: Agent?) async throws(AgentError) -> Agent {
        var parts = AgentDependencies.real(.http(web: access.loader.webConfigurations), dependencies)
        parts.settings = ConfigurationPrinter.values
        return try await Agent(
            options: options,
            time: SystemClock(),
            after: previous,
            reload: { [access] () throws(AgentError) in
                try access.reloadedOptions(after: options)
            },
            dependencies: parts
        )
    }
}

extension AgentAccess {
    /// Reloads the configuration, with the master key that root has read before it became another user.
    func reloadedOptions(after options: AgentOptions) throws(AgentError) -> AgentOptions {
        guard let key = options.security.masterKey else { return try reloadedOptions() }
        var access = self
        access.loader.knownKeyFile = options.security.masterKeyFile
        var new = try access.reloadedOptions()
        if new.security.masterKeyFile == options.security.masterKeyFile { new.security.masterKey = key }
        return new
    }
}

/// A handler of SIGTERM and SIGINT for the whole life of the process.
///
/// An agent handles them while it runs. This handler also works between the two runs of a reload and while an agent
/// stops, and ends the process if something hangs that cannot be cancelled, such as a write to a dead disk.
final class StopSignals: Sendable {
    /// The time beyond its limit that an agent has for closing files and connections.
    private static let grace = Duration.seconds(5)

    private let queue = DispatchQueue(label: "starwatch.stop", qos: .userInitiated)
    private let sources = Mutex<[any DispatchSourceSignal]>([])
    private let state = Mutex<(isAsked: Bool, agent: Agent?, limit: Duration)>((false, nil, .seconds(30)))

    init() {
        sources.withLock { sources in
            sources = [SIGTERM, SIGINT].map { number in
                let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
                source.setEventHandler { self.stop() }
                source.activate()
                return source
            }
        }
    }

    /// Whether a signal has arrived.
    var isAsked: Bool { state.withLock(\.isAsked) }

    /// Stops `agent` when a signal arrives, or now if one has arrived.
    ///
    /// - Parameter limit: The time limit for stopping.
    func hand(to agent: Agent, within limit: Duration) {
        let isAsked = state.withLock { state in
            (state.agent, state.limit) = (agent, limit)
            return state.isAsked
        }
        if isAsked { agent.stop() }
    }

    private func stop() {
        let (agent, limit, isFirst) = state.withLock { state in
            defer { state.isAsked = true }
            return (state.agent, state.limit, !state.isAsked)
        }
        agent?.stop()
        guard isFirst else { return }
        let wait = limit + Self.grace
        queue.asyncAfter(deadline: .now() + .seconds(Int(wait.components.seconds))) {
            // Standard error can be what hangs.
            _ = fcntl(STDERR_FILENO, F_SETFL, O_NONBLOCK)
            let sentence = "starwatch: Something did not stop in time. The next start resumes the work in progress.\n"
            let message = LogOptions.Level.error.marked(sentence, on: STDERR_FILENO)
            _ = message.withCString { write(STDERR_FILENO, $0, strlen($0)) }
            _exit(CommandExitCode.failed.rawValue)
        }
    }
}
