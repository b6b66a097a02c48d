import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// The parts of a process that need its database, made once at its start.
extension AgentProcess {
    /// The connection of an account to its server, which remembers its tokens and requests.
    func api() -> EndorserAPI {
        EndorserAPI(
            client: client,
            gate: gate,
            tokens: TokenMemory(
                of: parts.tokens(),
                monotonic: { [time = environment.time] in time.monotonic },
                onAnswer: { [refreshes = environment.metrics.clock.tokenRefreshes] isToken in
                    refreshes[isToken ? .ok : .failed].increment()
                }
            ),
            assumedDialect: parts.assumedDialect,
            requester: requester,
            environment: environment,
            progress: progress
        )
    }

    static func manager(
        _ options: AgentOptions,
        http: any HTTPTransport,
        environment: Environment,
        requester: Requester
    ) -> PollManager {
        var limits = PollManager.Limits()
        limits.concurrentPolls = options.limits.maxConcurrentPolls
        limits.requestsPerMinute = options.limits.requestsPerMinute
        limits.retry = options.hostPollRetry
        var hooks = PollManager.Hooks()
        hooks.client = ClientNames(userAgent: options.server.userAgent, clientVersion: options.server.clientVersion)
        hooks.observer = environment.metrics.host
        return PollManager(
            http: http,
            store: environment.store,
            time: requester.time,
            limits: limits,
            gates: requester.gates,
            hooks: hooks,
            random: requester.random
        )
    }

    static func slots(
        _ parts: AgentParts,
        _ options: AgentOptions,
        _ dependencies: AgentDependencies,
        environment: Environment,
        pseudonym: InstallationHash,
        after previous: Agent?
    ) -> [SinkSlot] {
        let metrics = environment.metrics
        let deliveries = DeliverySlots(files: OpenFiles.limit)
        func slot(_ sink: any NotificationSink, _ settings: SinkOptions?) -> SinkSlot {
            SinkSlot(
                sink,
                settings,
                label: metrics.sinkNames[sink.name]!,
                target: metrics.circuitNames[sink.name]!,
                deliveries: deliveries
            )
        }
        let configured = zip(parts.sinks, options.delivery.sinks).map { sink, settings in
            var sink = sink
            if options.fleetOfMany != nil { sink.pseudonym = pseudonym.hash }
            let slot = slot(sink, settings)
            let former = previous?.options.delivery.sinks.first { $0.name == settings.name }
            if let previous, former?.kind.type == settings.kind.type, former?.kind.place == settings.kind.place,
                let same = previous.process.sinks.first(where: { $0.name == sink.name })
            {
                slot.keepWait(of: same)
            }
            return slot
        }
        return configured + dependencies.sinks.map { slot(HostSinkAdapter(sink: $0, time: environment.time), nil) }
    }

    /// The server and the sinks that a reload leaves as they are.
    static func unchangedOwners(_ options: AgentOptions, since former: AgentOptions) -> [CertificateOwner] {
        let sinks = options.delivery.sinks.filter { former.delivery.sinks.contains($0) }.map(\.name)
        return (options.server == former.server ? [.server] : []) + sinks.map { .sink($0) }
    }
}

extension AgentParts {
    func gate(_ options: AgentOptions, environment: Environment, in gates: Gates) -> Gate {
        let server = url.origin
        var limits = GateLimits(
            requestsPerMinute: options.limits.requestsPerMinute,
            acknowledgementsPerMinute: options.limits.acknowledgementsPerMinute,
            areOfAccounts: true
        )
        limits.requestsPerSecond = options.fleetOfMany?.requestsPerSecond
        return gates.gate(to: server) { [limits] jumps in
            Gate(
                server: server,
                limits: limits,
                dialect: options.server.dialect.fixed,
                store: environment.store,
                clock: environment.clock,
                observer: GateGauges(metrics: environment.metrics),
                jumps: jumps
            )
        }
    }

    func client(_ options: AgentOptions, showing certificates: CertificateMetrics) -> EndorserClient {
        Self.client(options, http: WatchedTransport(http) { certificates.show($0, of: .server) })
    }

    static func client(
        _ options: AgentOptions,
        http: any HTTPTransport,
        headers: [(name: String, value: String)] = []
    ) -> EndorserClient {
        EndorserClient(
            http: http,
            baseURL: options.server.url,
            clientVersion: options.server.clientVersion ?? AgentVersion.userAgent,
            userAgent: options.server.userAgent ?? AgentVersion.userAgent,
            timeout: options.server.timeout,
            maxResponseBytes: options.server.maxResponseBytes,
            headers: headers
        )
    }

    /// The way to the server of a list, which gets no tokens. Lists of one server share its gate.
    func server(
        of list: JSONPoll,
        headers: [(name: String, value: String)],
        _ options: AgentOptions,
        by road: (requester: Requester, environment: Environment, progress: ProgressMark)
    ) -> EndorserAPI {
        EndorserAPI(
            client: Self.client(options, http: http, headers: headers),
            gate: road.requester.gates.gate(to: ServerURL(list.url)?.origin ?? list.url),
            tokens: AnonymousTokenProvider(),
            assumedDialect: assumedDialect,
            requester: road.requester,
            environment: road.environment,
            progress: road.progress
        )
    }

    /// - Parameter server: Returns the way to the server of a list.
    func polls(
        _ options: AgentOptions,
        environment: Environment,
        instance: String,
        server: (JSONPoll, _ headers: [(name: String, value: String)]) -> EndorserAPI
    ) -> [Poll] {
        // One list for every poll of a kind, because there can be many polls.
        let overlapping = Dictionary(
            uniqueKeysWithValues: PollKind.allCases.map { kind in
                (kind, options.polls.filter { $0.kind.overlaps(kind) }.map(\.name))
            }
        )
        return options.polls.indices.map { index in
            let (poll, schedule) = (options.polls[index], schedules[index])
            let gap = schedule.longestGap(from: environment.time.now)
            return Poll(
                poll,
                label: environment.metrics.pollNames[poll.name.rawValue]!,
                schedule: schedule,
                splay: Splay.delay(instance: instance, poll: poll.name, within: poll.splay),
                longestGap: gap,
                overlapping: overlapping[poll.kind] ?? [],
                server: poll.json.map { server($0, headers[index]) }
            )
        }
    }
}
