import Foundation
import Logging
import StarwatchCore
import StarwatchPolling
package import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// The parts of an agent that exist once, for any number of accounts: the database, the network, the sinks, the clocks,
/// the metrics and the log.
package final class AgentProcess: Sendable {
    package let environment: Environment
    package let store: Store
    let http: any HTTPTransport
    /// Sends the requests to every server.
    let requester: Requester
    /// Manages the requests of the host program and of digests.
    let pollManager: PollManager
    let sinks: [SinkSlot]
    let feed: Feed
    let signingKeys: StoredSigningKeys
    let logs: AgentLog
    let runs: RunRecorder
    let pseudonym: IdentityHash
    let changeHash: ChangeHash
    let differences: OptionsDifference
    /// The id of this installation, which determines the delay of polls within their splay.
    let instance: String
    /// Whether the database is not encrypted.
    let isClear: Bool
    let news = EventBroadcaster()
    let progress = ProgressMark()
    let lifecycle: AgentLifecycle
    /// Empty unless `clock.source` is `ntp`.
    let timeServers: [NTPClient]
    /// Start of the agent on the clock that nobody sets. A reload, which makes a new agent, continues it.
    let startedAt: Duration

    var gates: Gates { requester.gates }
    var journal: Journal { Journal(store: store, environment: environment, differences: differences) }

    /// Opens the database and makes the sinks.
    ///
    /// - Parameters:
    ///   - log: The log and the metrics, created before everything else.
    ///   - previous: The agent that a reload ended; the waits of unchanged sinks remain.
    init(
        options: AgentOptions,
        parts: AgentParts,
        log: AgentLog,
        dependencies: AgentDependencies,
        time: any TimeSource,
        random: @escaping @Sendable () -> Double,
        after previous: Agent?
    ) async throws(AgentError) {
        let metrics = log.metrics
        lifecycle = AgentLifecycle(after: previous?.process.lifecycle)
        startedAt = previous?.process.startedAt ?? time.boottime
        logs = log
        runs = RunRecorder(log.blackBox, after: previous?.process.runs)
        http = parts.http
        timeServers = parts.timeServers
        feed = parts.feed
        signingKeys = parts.signingKeys
        store = try await AgentDatabase.open(options, log: log, time: time, change: dependencies.store)
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
        feed.attach(store, installation: installation.instanceID)
        signingKeys.attach(store)
        instance = installation.instanceID
        let hash = IdentityHash(key: installation.key)
        pseudonym = hash
        changeHash = ChangeHash(key: installation.key)
        differences = OptionsDifference(key: installation.key, settings: dependencies.settings)
        log.pipeline.setPseudonym { text in DID(text).map(hash.hash) ?? RedactionKind.did.replacement }
        log.pipeline.add(log.recorder)
        environment = Self.environment(options, log, time: time, random: random, after: previous)
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
        sinks = Self.slots(parts, options, dependencies, environment: environment, after: previous)
        pollManager = Self.manager(options, http: http, store: store, requester: requester, metrics: metrics)
    }

    private static func environment(
        _ options: AgentOptions,
        _ log: AgentLog,
        time: any TimeSource,
        random: @escaping @Sendable () -> Double,
        after previous: Agent?
    ) -> Environment {
        let clock = ServerClock(
            time: time,
            metrics: log.metrics.clock,
            maxSkew: options.clock.maxSkew,
            source: options.clock.source,
            after: previous?.process.environment.clock
        )
        return Environment(time: time, clock: clock, metrics: log.metrics, logger: log.logger, random: random)
    }

    /// The server and the sinks that a reload leaves as they are.
    private static func unchangedOwners(_ options: AgentOptions, since former: AgentOptions) -> [CertificateOwner] {
        let sinks = options.delivery.sinks.filter { former.delivery.sinks.contains($0) }.map(\.name)
        return (options.server == former.server ? [.server] : []) + sinks.map { .sink($0) }
    }

    /// Brings the database in line with the configuration.
    private static func prepare(
        _ store: Store,
        _ options: AgentOptions,
        server: String,
        hostSinks: [String],
        metrics: OutboxMetrics,
        now: Timestamp
    ) async throws(AgentError) -> Installation {
        do throws(StoreError) {
            let installation = try await store.identity.installation()
            if store.reads { return installation }
            // Runs before the configured identity is seeded, because a new account needs no introduction.
            _ = try await store.notifications.introduce(
                feature: FeatureNotification.starredProjects.rawValue,
                now: now,
                token: RandomID.notificationID
            )
            let active = try await store.identity.seedIfEmpty(options.initialIdentity, server: server, now: now)
            if options.accounts == .many, let did = active.did {
                // The database of one person becomes one of many: its account goes on where it was.
                _ = try await store.accounts.add([AccountDraft(did: did)], server: server, now: now) { _ in now }
            } else if let did = active.did {
                let plans = options.polls.flatMap { $0.kind.needsStars ? $0.planIDs : [] }
                _ = try await store.stars.seedIfEmpty(plans, of: did, server: server, now: now)
            }
            let renderer = NotificationRenderer(polls: options.polls, options: options.delivery)
            let sinks = Set(options.delivery.sinks.map(\.name) + hostSinks)
            for account in try await store.deliveries.accounts() {
                // Before `retainSinks`, which can deliver the rows of a notification.
                _ = try await store.deliveries.releaseUnlisted(of: account, now: now) { renderer.renewed($0) }
                _ = try await store.deliveries.retainSinks(sinks, of: account, now: now)
            }
            // Deletes notifications that can no longer be read.
            try await store.feed.trim(keep: options.delivery.feedKeep ?? 0)
            if let did = active.did {
                _ = try await store.outbox.evict(
                    options.outbox.eviction,
                    of: did,
                    server: server,
                    maxUndelivered: options.outbox.maxUndelivered,
                    now: now
                )
            }
            // Before the first scrape, which would take zeros for a reset.
            metrics.publish(totals: try await store.status.ledgerTotals())
            return installation
        } catch {
            throw AgentError.database(error)
        }
    }

    private static func manager(
        _ options: AgentOptions,
        http: any HTTPTransport,
        store: Store,
        requester: Requester,
        metrics: AgentMetrics
    ) -> PollManager {
        var limits = PollManager.Limits()
        limits.concurrentPolls = options.limits.maxConcurrentPolls
        limits.requestsPerMinute = options.limits.requestsPerMinute
        limits.retry = options.hostPollRetry
        var hooks = PollManager.Hooks()
        hooks.client = ClientNames(userAgent: options.server.userAgent, clientVersion: options.server.clientVersion)
        hooks.observer = metrics.host
        return PollManager(
            http: http,
            store: store,
            time: requester.time,
            limits: limits,
            gates: requester.gates,
            hooks: hooks,
            random: requester.random
        )
    }

    private static func slots(
        _ parts: AgentParts,
        _ options: AgentOptions,
        _ dependencies: AgentDependencies,
        environment: Environment,
        after previous: Agent?
    ) -> [SinkSlot] {
        let metrics = environment.metrics
        let deliveries = DeliverySlots(files: OpenFiles.limit)
        func slot(
            _ sink: any NotificationSink,
            _ policy: SinkPolicy = SinkPolicy(),
            times: SinkTimes? = nil,
            takesAddress: (@Sendable (SinkAddress) -> Bool)? = nil
        ) -> SinkSlot {
            SinkSlot(
                sink: sink,
                label: metrics.sinkNames[sink.name]!,
                target: metrics.circuitNames[sink.name]!,
                policy: policy,
                times: times,
                takesAddress: takesAddress,
                deliveries: takesAddress == nil ? nil : deliveries
            )
        }
        let configured = zip(parts.sinks, options.delivery.sinks).map { sink, settings in
            var policy = SinkPolicy(isRequired: settings.isRequired, giveUpAfter: settings.giveUpAfter)
            policy.takesCanaries = settings["canary"] == true
            let slot = slot(sink, policy, times: SinkTimes(settings), takesAddress: settings.takesAddress)
            let former = previous?.options.delivery.sinks.first { $0.name == settings.name }
            if let previous, former?.kind.type == settings.kind.type, former?.kind.place == settings.kind.place,
                let same = previous.process.sinks.first(where: { $0.name == sink.name })
            {
                slot.keepWait(of: same)
            }
            return slot
        }
        return configured + dependencies.sinks.map { slot(HostSinkAdapter(sink: $0, time: environment.time)) }
    }

    /// Stores the configuration of digests and callbacks, and queues the event that reports a change to callbacks.
    func storeDigests(
        _ digests: [Digest],
        _ options: AgentOptions,
        account: DID?,
        writer: CallbackWriter
    ) async throws(AgentError) {
        if store.reads { return }
        do throws(StoreError) {
            // Texts armed for removed digests must not be shown.
            try await store.digests.retain(Set(digests.map(\.name)))
            // Old events must not be sent to callbacks that are configured again later.
            try await store.events.retain(CallbackKind.allCases.filter { options.callbacks.receiver(of: $0) != nil })
            let json = DigestFactory.json(options.digests)
            let now = environment.time.now
            let event = writer.draft(.configUpdated, account: account, config: json, now: now)
            let dropped = try await store.digests.storeConfiguration(json, telling: event, now: now)
            if let event, let dropped {
                environment.metrics.callbacks.count([event], dropped: dropped, environment.logger)
            }
        } catch {
            throw AgentError(.failed, error.description)
        }
    }

    /// Checks that the next agent could run with `next`, while this one runs.
    ///
    /// - Throws: ``AgentError`` if not; nothing is then changed.
    func check(
        _ next: AgentOptions,
        insteadOf current: AgentOptions,
        _ dependencies: AgentDependencies
    ) async throws(AgentError) {
        let time = environment.time
        let account = try await AgentDatabase.check(store, for: next, time: time)
        try await dependencies.servers.check(next, current)
        try await AgentParts.check(
            next,
            account: account,
            time: time,
            dependencies: dependencies,
            logger: environment.logger
        )
    }

    /// Closes the connections and the database, and stores the rest of the log.
    func close() async {
        news.close()
        logs.pipeline.flush()
        await logs.recorder.flush(to: store)
        http.shutdown()
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
