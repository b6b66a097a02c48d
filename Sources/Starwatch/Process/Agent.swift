import Foundation
import Logging
package import ServiceLifecycle
import StarwatchCore
package import StarwatchStore
package import StarwatchTelemetry
import StarwatchTransport
import Synchronization
import UnixSignals

/// A running, or runnable, Starwatch.
///
/// `init` opens the database and checks what can be checked; ``run(supervisor:)`` polls, delivers, acknowledges and serves until
/// it is told to stop. Without ``run(supervisor:)`` the agent still answers questions about its database.
public final class Agent: Sendable {
    package let options: AgentOptions
    package let store: Store
    package let metrics: AgentMetrics
    package let polls: [Poll]
    let sinks: [SinkSlot]
    let identity: IdentityContext
    let clock: ServerClock
    let time: any TimeSource
    let caller: APICaller
    let pollService: PollService
    /// Polls that the host program defines; it runs with the agent.
    public let pollManager: PollManager
    let newsDesk = NewsDesk()
    let dispatcher: DispatchService
    let acknowledger: AcknowledgeService
    let hasStored = Signal()
    let hasDelivered = Signal()
    let digestParts: DigestParts
    let pipeline: LogPipeline
    let logger: Logger
    let pseudonym: IdentityHash
    let startedAt: Timestamp
    let lifecycle = AgentLifecycle()
    package let reloader: Reloader
    let progress = ProgressMark()
    let actionHooks = ActionHooks()
    private let stopping = Announcement<Void>()
    private let recorder: LogRecorder
    private let http: any HTTPTransport
    private let servers: AgentServers
    let ntp: NTPClient?
    let feed: Feed

    /// Opens the database, reads the secrets, and wires everything. Nothing runs yet.
    ///
    /// - Throws: ``AgentError`` of kind `configuration` when an option, a secret or the database cannot be used.
    ///
    /// - Parameters:
    ///   - options: What to do.
    ///   - servers: Serve the metrics, the status page and the control API during a run: `.http` of the module
    ///     StarwatchHTTP. By default an agent serves nothing.
    ///   - dependencies: What else is on the `/metrics` page; by default nothing.
    ///   - previous: The agent that a reload ended: what it has counted is counted on, and sinks that asked to be left
    ///     alone still are.
    ///   - sinks: Sinks of the host program's own, beside the configured ones, with which they share the 16 places.
    ///   - fetchers: What fetches the content of digests in the host program.
    ///   - reload: Loads the options again when SIGHUP or the control API asks for it; `nil`: they stay.
    public convenience init(
        options: AgentOptions,
        servers: AgentServers = .none,
        dependencies: DependencyMetrics = DependencyMetrics(),
        after previous: Agent? = nil,
        sinks: [any HostSink] = [],
        fetchers: [any ContentFetcher] = [],
        reload: (@Sendable () throws(AgentError) -> AgentOptions)? = nil
    ) async throws(AgentError) {
        var surroundings = AgentSurroundings()
        surroundings.sinks = sinks
        surroundings.fetchers = fetchers
        surroundings.servers = servers
        try await self.init(
            options: options,
            time: SystemClock(),
            dependencies: dependencies,
            after: previous,
            reload: reload,
            surroundings: surroundings
        )
    }

    /// As the public initialiser, with a clock and randomness of one's own.
    ///
    /// - Parameters:
    ///   - logSinks: Where log lines go beside the database; `nil`: to standard error.
    ///   - surroundings: The network and the disk.
    package init(
        options: AgentOptions,
        time: any TimeSource,
        dependencies: DependencyMetrics = DependencyMetrics(),
        after previous: Agent? = nil,
        reload: (@Sendable () throws(AgentError) -> AgentOptions)? = nil,
        logSinks: [any StarwatchTelemetry.LogSink]? = nil,
        surroundings: AgentSurroundings = AgentSurroundings(),
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) async throws(AgentError) {
        self.options = options
        self.time = time
        startedAt = time.now
        let sinkNames = options.delivery.sinks.map(\.name) + surroundings.sinks.map(\.name)
        do {
            metrics = try AgentMetrics(
                polls: options.polls.map(\.name.rawValue),
                sinks: sinkNames,
                now: { time.now },
                dependencies: dependencies.bridge
            )
        } catch {
            throw AgentError(.configuration, "\(error)")
        }
        if let previous { metrics.registry.countOn(from: previous.metrics.registry) }
        pipeline = LogPipeline(
            format: LogFormat(rawValue: options.log.format.rawValue) ?? .json,
            level: Logger.Level(rawValue: options.log.level.rawValue) ?? .info,
            sinks: logSinks ?? [
                DescriptorWriter.standardError(
                    environment: ProcessInfo.processInfo.environment,
                    onDrop: { [metrics] in metrics.log.dropped.increment() }
                )
            ],
            metrics: metrics.log,
            nowMilliseconds: { time.now.milliseconds }
        )
        let handler = pipeline.handler(label: "starwatch")
        logger = Logger(label: "starwatch", factory: { _ in handler })
        let parts = try AgentParts(options, time: time, surroundings: surroundings, logger: logger)
        http = parts.http
        ntp = parts.ntp
        feed = parts.feed
        servers = surroundings.servers

        store = try Self.open(options, metrics: metrics, logger: logger, change: surroundings.store)
        let installation: Installation
        do {
            installation = try await store.installation()
            // Before the configured identity has its settings: that one is new here.
            _ = try await store.introduce(
                feature: FeatureNotification.starredProjects.rawValue,
                now: time.now,
                token: RandomID.notificationID
            )
            let active = try await store.seedIdentityIfEmpty(
                options.initialIdentity,
                server: parts.url.origin,
                now: time.now
            )
            if let did = active.did {
                let plans = options.polls.flatMap { $0.kind == .starredProjects ? $0.planIDs : [] }
                _ = try await store.seedStarsIfEmpty(plans, of: did, server: parts.url.origin, now: time.now)
            }
            _ = try await store.retainSinks(Set(sinkNames), now: time.now)
            // What nobody can see any more is not kept either.
            try await store.trimFeed(keep: options.delivery.feedKeep ?? 0)
            feed.attach(store)
            _ = try await store.evict(
                options.outbox.eviction,
                server: parts.url.origin,
                maxUndelivered: options.outbox.maxUndelivered,
                now: time.now
            )
        } catch {
            throw AgentError(.failed, error.description)
        }
        let hash = IdentityHash(key: installation.key)
        pseudonym = hash
        pipeline.setPseudonym { text in DID(text).map(hash.hash) ?? RedactionKind.did.replacement }
        let recorder = LogRecorder()
        self.recorder = recorder
        pipeline.add(recorder)

        clock = ServerClock(
            time: time,
            metrics: metrics.clock,
            maxSkew: options.clock.maxSkew,
            source: options.clock.source
        )
        identity = IdentityContext(
            store: store,
            server: parts.url.origin,
            isShared: options.storage.owner == .host,
            now: { [clock] in clock.now }
        )
        let gate = ServerGate(
            server: parts.url.origin,
            dialect: options.server.dialect,
            limits: options.limits,
            store: store,
            metrics: metrics
        )
        caller = APICaller(
            client: EndorserClient(
                http: http,
                baseURL: parts.url.base,
                clientVersion: AgentVersion.userAgent,
                timeout: options.server.timeout,
                maxResponseBytes: options.server.maxResponseBytes
            ),
            gate: gate,
            tokens: parts.tokens,
            assumedDialect: parts.assumedDialect,
            acknowledgementLimit: options.limits.acknowledgementsPerMinute,
            clock: clock,
            time: time,
            metrics: metrics,
            logger: logger,
            random: random,
            progress: progress
        )
        let account: DID?
        do throws(StoreError) {
            account = try await store.activeIdentity().did
            try await gate.restore(now: time.now)
        } catch {
            throw AgentError(.failed, error.description)
        }
        try await parts.validate(account: account)

        var polls: [Poll] = []
        for (poll, schedule) in zip(options.polls, parts.schedules) {
            polls.append(
                Poll(
                    options: poll,
                    label: metrics.pollNames[poll.name.rawValue]!,
                    schedule: schedule,
                    splay: Splay.delay(instance: installation.instanceID, poll: poll.name, within: poll.splay)
                )
            )
        }
        self.polls = polls
        var sinks: [SinkSlot] = []
        for (sink, settings) in zip(parts.sinks, options.delivery.sinks) {
            let slot = SinkSlot(
                sink: sink,
                label: metrics.sinkNames[sink.name]!,
                target: metrics.circuitNames[sink.name]!
            )
            if let previous, previous.options.delivery.sinks.contains(settings),
                let same = previous.sinks.first(where: { $0.name == sink.name })
            {
                slot.keepWait(of: same)
            }
            sinks.append(slot)
        }
        for sink in surroundings.sinks {
            sinks.append(
                SinkSlot(
                    sink: HostSinkAdapter(sink: sink, time: time),
                    label: metrics.sinkNames[sink.name]!,
                    target: metrics.circuitNames[sink.name]!
                )
            )
        }
        self.sinks = sinks

        let (wakesDigests, hasEvents) = (Signal(), Signal())
        pollService = PollService(
            polls: polls,
            store: store,
            caller: caller,
            identity: identity,
            outbox: options.outbox,
            maxConcurrent: options.limits.maxConcurrentPolls,
            longestCycle: options.limits.cycle,
            hasStored: hasStored,
            hasDelivered: hasDelivered,
            hasCycled: hasEvents,
            progress: progress,
            news: newsDesk,
            logger: logger
        )
        pollManager = PollManager(
            http: http,
            store: store,
            time: time,
            maxConcurrentPolls: options.limits.maxConcurrentPolls,
            requestsPerMinute: options.limits.requestsPerMinute,
            retry: options.hostPollRetry,
            agent: caller,
            metrics: metrics.host,
            random: random
        )
        dispatcher = DispatchService(
            polls: polls,
            sinks: sinks,
            store: store,
            identity: identity,
            server: parts.url.origin,
            options: options.delivery,
            maxRetries: options.outbox.maxRetries,
            clock: clock,
            time: time,
            metrics: metrics,
            hasStored: hasStored,
            hasDelivered: hasDelivered,
            hasSettled: wakesDigests,
            random: random,
            logger: logger
        )
        digestParts = try await DigestParts(
            options,
            parts,
            store: store,
            identity: identity,
            sinks: sinks,
            pseudonym: hash,
            clock: clock,
            time: time,
            metrics: metrics,
            hasStored: hasStored,
            hasEvents: hasEvents,
            wake: wakesDigests,
            account: account,
            instance: installation.instanceID,
            gates: pollManager.runner.gates,
            polls: PollContent(
                polls: polls,
                service: pollService,
                store: store,
                server: parts.url.origin,
                clock: clock,
                time: time,
                names: options.delivery.projectNames
            ),
            logger: logger
        )
        acknowledger = AcknowledgeService(
            polls: polls,
            store: store,
            identity: identity,
            caller: caller,
            options: options.acknowledge,
            hasDelivered: hasDelivered,
            logger: logger
        )
        // Not `reload ?? …`: the compiler miscompiles a closure with a typed throw behind `??`, which returns garbage.
        let load: @Sendable () throws(AgentError) -> AgentOptions
        if let reload { load = reload } else { load = { () throws(AgentError) in options } }
        reloader = Reloader(
            hangups: previous?.reloader.hangups ?? Hangups(),
            current: options,
            load: load,
            check: { [current = options, store, time, logger] options throws(AgentError) in
                let account = try await Self.checkReload(store)
                try await surroundings.servers.check(options, current)
                try await AgentParts.check(
                    options,
                    account: account,
                    time: time,
                    surroundings: surroundings,
                    logger: logger
                )
            },
            time: time,
            metrics: metrics,
            logger: logger
        )
        publishConfiguration()
    }

    /// Runs until SIGTERM or SIGINT, or until the task is cancelled: then polling stops, what was fetched is delivered
    /// and acknowledged, and the function returns. What takes longer than ``LimitOptions/shutdown`` is given up, which
    /// loses nothing.
    ///
    /// - Parameter supervisor: The service manager, to be told how it goes.
    /// - Returns: The options to go on with, when a reload ended the run: make a new agent of them. `nil`: it is over.
    /// - Throws: ``AgentError`` when a socket cannot be opened or a service fails.
    @discardableResult
    public func run(supervisor: Supervisor = .none) async throws(AgentError) -> AgentOptions? {
        try await run(supervisor: supervisor, isEmbedded: false)
    }

    /// - Parameter isEmbedded: Whether the program has a `ServiceGroup` of its own: then signals are its business, and
    ///   its graceful shutdown is the agent's.
    func run(supervisor: Supervisor, isEmbedded: Bool) async throws(AgentError) -> AgentOptions? {
        // Frameworks say at debug what our own events say better. Their label sets their sentences apart from events.
        let handler = pipeline.handler(label: "frameworks")
        var frameworks = Logger(label: "frameworks", factory: { _ in handler })
        frameworks.logLevel = max(.notice, logger.logLevel)
        let serving = try servers.make(self, options, frameworks)
        // Stopped in reverse: polling first, then delivery, then acknowledgement; /metrics answers to the end.
        let announcer = Announcer(
            address: serving.metricsAddress,
            lifecycle: lifecycle,
            supervisor: supervisor,
            stopping: stopping,
            isReloading: { [reloader] in reloader.next != nil },
            logger: logger
        )
        var services = serving.services
        if isEmbedded { reloader.refuse() } else { services.append(reloader) }
        services += workers(supervisor: supervisor) + [pollManager, announcer]
        var configuration = ServiceGroupConfiguration(
            services: services.map {
                .init(
                    service: $0,
                    // The announcer's end is how stop() ends the run; no other service ends by itself.
                    successTerminationBehavior: $0 is Announcer ? .gracefullyShutdownGroup : .cancelGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup
                )
            },
            gracefulShutdownSignals: isEmbedded ? [] : [.sigterm, .sigint],
            logger: frameworks
        )
        configuration.maximumGracefulShutdownDuration = options.limits.shutdown
        logger.log(.agentStarted, [.version: "\(AgentVersion.current)", .polls: .number(polls.count)])
        for poll in polls { progress.mark(.poll(poll.name), at: time.monotonic) }
        progress.mark(.store, at: time.monotonic)
        lifecycle.start()
        let group = ServiceGroup(configuration: configuration)
        reloader.attach(group, supervisor)
        do {
            try await group.run()
        } catch let error as AgentError {
            await close()
            throw error
        } catch {
            await close()
            throw AgentError(.failed, "\(error)")
        }
        logger.log(.agentStopped)
        await close()
        return reloader.next
    }

    /// Ends ``run(supervisor:)`` as SIGTERM does, also one that is still to begin.
    public func stop() { stopping.announce(()) }

    /// What works without being asked: all services but those that serve. To be stopped in reverse.
    ///
    /// - Parameter supervisor: Who is told of the agent's health, by the real clock; `nil`: nobody, and only a
    ///   store that has failed is looked at.
    package func workers(supervisor: Supervisor?) -> [any Service] {
        [
            HousekeepingService(
                store: store,
                outbox: options.outbox,
                clock: clock,
                time: time,
                pipeline: pipeline,
                recorder: recorder,
                logger: logger,
                beat: {
                    if let supervisor { return await self.beat(supervisor) }
                    // Whether it can be used again; that it cannot, is found out by whoever uses it.
                    if self.store.health.failure != nil { try? await self.store.probe() }
                },
                beatInterval: supervisor?.progressInterval
            ),
            ClockSyncService(caller: caller, identity: identity, ntp: ntp, options: options.clock, logger: logger),
        ]
            + digestServices.callbacks + [acknowledger, dispatcher] + digestServices.digests + [pollService]
    }

    /// Closes the connections and the database, so that another agent may open it, and stores what is left of the log.
    ///
    /// For agents that only ``poll(_:)``: ``run(supervisor:)`` ends with it. The agent is then of no more use: its polls fail.
    /// Closing it again does nothing. A cycle under way ends as cancelled, and what it has stored stays.
    public func close() async {
        newsDesk.close()
        pipeline.flush()
        await recorder.flush(to: store)
        http.shutdown()
        await caller.gate.storeEnds()
        await pollManager.endSchedules()
        tell(nil)
        await store.close()
    }
}
