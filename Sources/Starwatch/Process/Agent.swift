import Foundation
import Logging
import ServiceLifecycle
package import StarwatchCore
package import StarwatchPolling
package import StarwatchStore
package import StarwatchTelemetry
import StarwatchTransport
import UnixSignals

/// A Starwatch agent, running or not.
///
/// `init` opens the database and checks the options. ``run(supervisor:)`` polls, delivers, acknowledges and serves
/// until it must stop. Before it runs, the agent still answers questions about its database.
public final class Agent: Sendable {
    /// The parts that the process has once, for any number of accounts.
    let process: AgentProcess
    /// The parts of the active identity; with many accounts, those of nobody.
    package let runtime: AccountRuntime
    /// `nil` unless the agent works for many accounts.
    let fleet: FleetService?
    package let reloader: Reloader
    /// The work of the control API, by topic.
    package let topics: AgentTopics
    let servers: AgentServers

    /// Opens the database, reads the secrets, and connects the parts. Nothing runs yet.
    ///
    /// - Parameters:
    ///   - options: The configuration.
    ///   - servers: The servers of the metrics, the status page and the control API: `.http` of the module
    ///     StarwatchHTTP. By default there are none.
    ///   - dependencies: Metrics of other libraries for the `/metrics` page; by default none.
    ///   - previous: The agent that a reload ended: its counters continue, and the waits that its sinks asked for
    ///     remain.
    ///   - sinks: The host program's sinks. Together with the configured ones, there can be 16.
    ///   - fetchers: The host program's fetchers of digest content.
    ///   - reload: Loads the options again on SIGHUP or a request of the control API; `nil`: no reload.
    /// - Throws: ``AgentError`` of kind `configuration` if an option, a secret or the database is unusable.
    public convenience init(
        options: AgentOptions,
        servers: AgentServers = .none,
        dependencies: DependencyMetrics = DependencyMetrics(),
        after previous: Agent? = nil,
        sinks: [any HostSink] = [],
        fetchers: [any ContentFetcher] = [],
        reload: (@Sendable () throws(AgentError) -> AgentOptions)? = nil
    ) async throws(AgentError) {
        var parts = AgentDependencies.real(servers, dependencies)
        parts.sinks = sinks
        parts.fetchers = fetchers
        try await self.init(options: options, time: SystemClock(), after: previous, reload: reload, dependencies: parts)
    }

    /// Opens the database beside the agent that has it open, to perform verbs that read. Nothing is locked or written.
    package convenience init(reading options: AgentOptions) async throws(AgentError) {
        var options = options
        // Nothing is sent, so no secret is needed.
        options.auth = AuthOptions()
        options.callbacks = CallbackOptions()
        for index in options.delivery.sinks.indices where options.delivery.sinks[index].kind.type.sendsRequests {
            let isOfAccounts = options.delivery.sinks[index].isOfAccounts
            let ofAccounts = SinkOptions.Kind.webhook(url: "", secretFile: nil, timeout: .zero)
            options.delivery.sinks[index].kind = isOfAccounts ? ofAccounts : .log
        }
        var parts = AgentDependencies()
        parts.store = { $0.reads = true }
        parts.keepsBlackBox = false
        try await self.init(options: options, time: SystemClock(), logSinks: [], dependencies: parts)
    }

    /// Makes an agent with the caller's clock and randomness.
    ///
    /// - Parameters:
    ///   - logSinks: Receivers of log lines besides the database; `nil`: standard error.
    ///   - dependencies: The network, the disk and the host program's parts.
    package convenience init(
        options: AgentOptions,
        time: any TimeSource,
        after previous: Agent? = nil,
        reload: (@Sendable () throws(AgentError) -> AgentOptions)? = nil,
        logSinks: [any StarwatchTelemetry.LogSink]? = nil,
        dependencies: AgentDependencies = AgentDependencies(),
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) async throws(AgentError) {
        var log: AgentLog?
        do throws(AgentError) {
            let made = try AgentLog(
                options: options,
                dependencies: dependencies,
                sinks: logSinks,
                time: time,
                after: previous
            )
            log = made
            try await self.init(
                options,
                made,
                dependencies,
                time: time,
                random: random,
                after: previous,
                reload: reload
            )
        } catch {
            await log?.blackBox.close()
            await previous?.endInsteadOfReload(.failed)
            throw error
        }
    }

    private init(
        _ options: AgentOptions,
        _ log: AgentLog,
        _ dependencies: AgentDependencies,
        time: any TimeSource,
        random: @escaping @Sendable () -> Double,
        after previous: Agent?,
        reload: (@Sendable () throws(AgentError) -> AgentOptions)?
    ) async throws(AgentError) {
        servers = dependencies.servers
        process = try await AgentProcess(options, log, dependencies, time: time, random: random, after: previous)
        runtime = AccountRuntime(of: nil, in: process)
        try await runtime.activate()
        // It counts how long a poll has not succeeded from here on.
        _ = runtime.dispatcher
        if let previous { await runtime.keepProblems(of: previous.runtime) }
        // Not `reload ?? …`: Swift 6.3 miscompiles a closure with a typed throw behind `??`, and it returns garbage.
        let load: @Sendable () throws(AgentError) -> AgentOptions
        if let reload { load = reload } else { load = { () throws(AgentError) in options } }
        reloader = Reloader(
            signal: previous?.reloader.signal ?? ReloadSignal(),
            load: load,
            process: process,
            dependencies: dependencies
        )
        fleet = process.options.fleetOfMany.map { [process] _ in FleetService(process) }
        topics = AgentTopics(runtime, reloader, fleet)
        topics.metrics.publishConfiguration()
        await topics.keys.noteAge()
    }

    /// Runs until SIGTERM, SIGINT or the cancellation of the task. Polling then stops, fetched changes are delivered
    /// and acknowledged, and the function returns. Work that takes longer than ``LimitOptions/shutdown`` is abandoned,
    /// without loss.
    ///
    /// - Parameter supervisor: The service manager, which receives the agent's state.
    /// - Returns: The options of the next run, if a reload ended this one: make a new agent with them. `nil`: no next
    ///   run.
    /// - Throws: ``AgentError`` if a socket cannot be opened or a service fails.
    @discardableResult
    public func run(supervisor: Supervisor = .none) async throws(AgentError) -> AgentOptions? {
        try await run(supervisor: supervisor, isEmbedded: false)
    }

    /// - Parameter isEmbedded: Whether the program has its own `ServiceGroup`. That group then handles signals, and its
    ///   graceful shutdown stops the agent.
    func run(supervisor: Supervisor, isEmbedded: Bool) async throws(AgentError) -> AgentOptions? {
        let group: ServiceGroup
        do throws(AgentError) {
            group = try RunServices(self, supervisor).group(isEmbedded: isEmbedded)
        } catch {
            // The run of the agent before a reload ends here; another has not begun.
            await end(.failed)
            throw error
        }
        let logger = process.environment.logger
        if !process.lifecycle.isContinued {
            await process.runs.begin(now: process.environment.time.now) { await process.journal.note(former: $0) }
            logger.log(.agentStarted, [.version: "\(AgentVersion.current)", .polls: .number(runtime.polls.count)])
            if let upgrade = process.store.upgrade { await process.journal.note(upgrade) }
            // A host application decides about its database itself.
            if process.isClear, options.storage.owner == .agent { logger.log(.storageClear) }
        }
        // Only this process knows its limit. `check` warns by that of the shell.
        let files = OpenFiles.limit
        if options.limits.arePollsTooMany(forOpenFiles: files) {
            logger.log(.agentOpenFilesLow, [.count: .number(files)])
        }
        let now = process.environment.time.monotonic
        for poll in runtime.polls { process.progress.mark(.poll(poll.name), at: now) }
        process.progress.mark(.store, at: now)
        process.lifecycle.start()
        reloader.attach(group, supervisor)
        do {
            // With a preference, so that no service continues on the thread of another that it shares an actor with.
            try await withTaskExecutorPreference(Offload.executor) { try await group.run() }
        } catch {
            await end(.failed)
            throw error as? AgentError ?? AgentError(.failed, "\(error)")
        }
        guard reloader.next == nil else {
            await close()
            return reloader.next
        }
        logger.log(.agentStopped)
        await end(.stopped)
        return nil
    }

    /// Notes the end of the run, and closes the agent.
    private func end(_ cause: RunEndCause) async {
        if let end = await process.runs.end(cause, now: process.environment.time.now) {
            await process.journal.note(end)
        }
        await close()
    }

    /// Marks the end of the run of this closed agent, which another should have continued after a reload. The next start
    /// notes it in the journal.
    package func endInsteadOfReload(_ cause: RunEndCause) async {
        let box = process.logs.blackBox.reopened()
        await process.runs.end(cause, now: process.environment.time.now, in: box)
        await box.close()
    }

    /// Ends ``run(supervisor:)`` as SIGTERM does, even before it begins.
    public func stop() { process.lifecycle.stopping.fulfil(()) }

    /// Does `work` with this agent, which does not run, and closes it.
    package func once<Answer: Sendable>(
        _ work: (Agent) async throws(ControlError) -> Answer
    ) async throws(ControlError) -> Answer {
        do throws(ControlError) {
            let answer = try await work(self)
            await close()
            return answer
        } catch {
            await close()
            throw error
        }
    }

    /// Closes the connections and the database, so another agent can open it, and stores the rest of the log.
    ///
    /// Use it for agents that only ``poll(_:)``; ``run(supervisor:)`` closes by itself. Polls of a closed agent fail. A
    /// second close does nothing. A cycle in flight ends as cancelled, and its stored changes stay.
    public func close() async {
        process.actions.actions = nil
        // A failure loses only what `explain` would say of runs that found nothing.
        try? await store.stories.keep(runtime.pollService.recentRuns())
        await process.close()
    }
}

/// Short names for the most used parts.
extension Agent {
    package var options: AgentOptions { process.options }
    package var store: Store { process.store }
    package var metrics: AgentMetrics { process.environment.metrics }
    /// Manager of the host program's polls. It runs with the agent.
    public var pollManager: PollManager {
        metrics.showHostPolls()
        return process.pollManager
    }
}
