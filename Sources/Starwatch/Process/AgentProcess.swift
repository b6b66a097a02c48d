import Foundation
import Logging
import StarwatchCore
import StarwatchPolling
package import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// The parts that the process has once, for any number of accounts: database, network, the way to the server, polls, the
/// sinks, the clocks, the metrics and the log.
package final class AgentProcess: Sendable {
    package let options: AgentOptions
    package let environment: Environment
    /// The parts that the configuration makes without the database.
    let parts: AgentParts
    /// Sends the requests to every server.
    let requester: Requester
    let client: EndorserClient
    /// The gate to the server of all accounts.
    let gate: Gate
    /// Manages the requests of the host program and of digests.
    let pollManager: PollManager
    /// The polls of the active identity. Their splay is this installation's.
    let polls: [Poll]
    let lastCycles = LastCycles()
    /// The requests that accounts share, by the kinds of polls for which none asks alone.
    let sharing: [PollKind: SharedRequests]
    /// The content of digests that accounts share; `nil` if there is one account.
    let contents: SharedContents?
    let sinks: [SinkSlot]
    /// The synthetic changes; `nil` if none are configured.
    let canaries: CanaryMemory?
    /// The host program's handlers of actions on notifications.
    let actions = ActionHandler()
    let logs: AgentLog
    let runs: RunRecorder
    let pseudonym: InstallationHash
    let differences: OptionsDifference
    /// The id of this installation, which determines the delay of polls within their splay.
    let instance: String
    /// Whether the database is not encrypted.
    let isClear: Bool
    let news = EventBroadcaster()
    let progress = ProgressMark()
    let lifecycle: AgentLifecycle
    /// Start of the agent on the clock that nobody sets. A reload, which makes a new agent, continues it.
    let startedAt: Duration

    package var store: Store { environment.store }
    var callbackWriter: CallbackWriter { CallbackWriter(options: options.callbacks, pseudonym: pseudonym) }
    var gates: Gates { requester.gates }
    var journal: Journal { Journal(environment: environment, differences: differences) }

    /// Reads the secrets, opens the database and makes the sinks.
    ///
    /// - Parameters:
    ///   - log: The log and the metrics, created before everything else.
    ///   - previous: The agent that a reload ended; the waits of unchanged sinks remain.
    init(
        _ options: AgentOptions,
        _ log: AgentLog,
        _ dependencies: AgentDependencies,
        time: any TimeSource,
        random: @escaping @Sendable () -> Double,
        after previous: Agent?
    ) async throws(AgentError) {
        let metrics = log.metrics
        self.options = options
        parts = try AgentParts(
            options,
            time: time,
            dependencies: dependencies,
            logger: log.logger,
            certificates: metrics.problems.certificates,
            droppedLines: { [dropped = metrics.log.dropped] in dropped.value }
        )
        lifecycle = AgentLifecycle(after: previous?.process.lifecycle)
        startedAt = previous?.process.startedAt ?? time.boottime
        logs = log
        runs = RunRecorder(log.blackBox, after: previous?.process.runs)
        let store = try await Self.openStore(options, log: log, time: time, change: dependencies.store)
        isClear = await !store.keys.isEncrypted
        metrics.storageEncrypted.set(isClear ? 0 : 1)
        metrics.storageCheck.set(Double(store.status.pageCheckPhase.rawValue))
        let installation = try await Self.prepare(
            store,
            options,
            server: parts.url.origin,
            hostSinks: dependencies.sinks.map(\.name),
            metrics: metrics.outbox,
            now: time.now
        )
        parts.feed.attach(store, installation)
        parts.signingKeys.attach(store)
        instance = installation.instanceID
        let hash = InstallationHash(key: installation.key)
        pseudonym = hash
        differences = OptionsDifference(key: installation.key, settings: dependencies.settings)
        log.pipeline.setPseudonym { text in DID(text).map(hash.hash) ?? RedactionKind.did.replacement }
        log.pipeline.add(log.recorder)
        let clock = ServerClock(
            time: time,
            metrics: metrics.clock,
            maxSkew: options.clock.maxSkew,
            source: options.clock.source,
            after: previous?.process.environment.clock
        )
        environment = Environment(
            time: time,
            clock: clock,
            store: store,
            metrics: metrics,
            logger: log.logger,
            random: random
        )
        let gates = Gates(
            store: store,
            requestsPerMinute: options.limits.requestsPerMinute,
            time: time,
            onJump: { [environment, lifecycle] event in
                lifecycle.seen.noteJump(event, at: time.boottime)
                environment.report(event)
            }
        )
        requester = Requester(gates: gates, time: time, random: random)
        if let previous {
            let kept = Self.unchangedOwners(options, since: previous.options)
            metrics.problems.certificates.keep(kept, of: previous.process.environment.metrics.problems.certificates)
        }
        sinks = Self.slots(
            parts,
            options,
            dependencies,
            environment: environment,
            pseudonym: hash,
            after: previous
        )
        pollManager = Self.manager(options, http: parts.http, environment: environment, requester: requester)
        gate = parts.gate(options, environment: environment, in: gates)
        client = parts.client(options, showing: metrics.problems.certificates)
        let road = (requester: requester, environment: environment, progress: progress)
        polls = parts.polls(options, environment: environment, instance: instance) { [parts] list, headers in
            parts.server(of: list, headers: headers, options, by: road)
        }
        canaries = options.canary.map { CanaryMemory($0, startedAt: time.now) }
        let hasTokens = !parts.tokens().isAnonymous
        let shared = options.fleetOfMany?.sharedRequests == true ? polls : []
        sharing = Dictionary(grouping: shared.filter { $0.kind.isShared(withTokens: hasTokens) }, by: \.kind)
            .mapValues { [metrics] in SharedRequests(metrics: metrics.fleet, polls: $0) }
        contents = options.fleetOfMany == nil ? nil : SharedContents()
    }

    /// Checks that the next agent could run with `next`, while this one runs.
    ///
    /// - Throws: ``AgentError`` if not; nothing is then changed.
    func check(
        _ next: AgentOptions,
        _ dependencies: AgentDependencies
    ) async throws(AgentError) {
        let time = environment.time
        let account = try await checkStore(for: next)
        try await dependencies.servers.check(next, options)
        try await AgentParts.check(
            next,
            account: account,
            time: time,
            dependencies: dependencies,
            logger: environment.logger
        )
    }

    /// Returns whether the store responds in time for scrapers and people. A request does not wait for a store that is slow
    /// already; the first one waits for five times as long as an access may take.
    func storeAnswersInTime() async -> Bool {
        guard !store.health.isSlow else { return false }
        let answer = Promise<Bool>()
        store.status.whenIdle { answer.fulfil(true) }
        // Uses the real clock, because nothing advances a simulated one here.
        return await SystemClock().run(within: store.health.patience * 5, late: false) {
            await answer.value() ?? false
        } ?? false
    }

    /// Closes the connections and the database, and stores the rest of the log.
    func close() async {
        news.close()
        logs.pipeline.flush()
        await logs.recorder.flush(to: store)
        parts.http.shutdown()
        await gates.storeEnds()
        await pollManager.endSchedules()
        await store.close()
        // Last, so that it has every line.
        await logs.blackBox.close()
    }
}

extension Environment {
    /// Counts and logs a jump of the local clock.
    fileprivate func report(_ event: ClockJumpDetector.Event) {
        metrics.clock.jumps[event.jump].increment()
        logger.log(
            .clockJump,
            [.kind: "\(event.jump.rawValue)", .sizeMilliseconds: .number(event.size.wholeMilliseconds)]
        )
    }
}
