import ServiceLifecycle
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

/// The parts of an agent that serve one account: its connection to the server, its polls, their delivery and
/// acknowledgement, and its digests.
///
/// A process can create and drop many of them. The expensive parts belong to the ``AgentProcess``.
package final class AccountRuntime: Sendable {
    package let account: Account
    package let polls: [Poll]
    let wakes = WakeSignals()
    let context: WorkerContext
    let pollService: PollService
    let dispatcher: DispatchService
    let acknowledger: AcknowledgeService
    /// The digests; `nil` if none are configured.
    let digests: DigestService?
    /// The callbacks; `nil` if none are configured.
    let callbacks: CallbackService?

    /// Makes the parts; nothing runs yet.
    ///
    /// - Throws: ``AgentError`` of kind `failed` if the database fails, of kind `configuration` if there can be no
    ///   token for the active identity.
    init(process: AgentProcess, parts: AgentParts, options: AgentOptions) async throws(AgentError) {
        let (environment, store) = (process.environment, process.store)
        let account = Self.account(process, parts, options)
        self.account = account
        let context = WorkerContext(store: store, account: account, environment: environment, wakes: wakes)
        self.context = context
        let active = try await Self.activate(account, process, parts)
        polls = Self.polls(process, parts, options)
        pollService = PollService(
            polls: polls,
            shared: PollCycle.Shared(
                environment: environment,
                store: store,
                account: account,
                outbox: options.outbox,
                longestCycle: options.limits.cycle,
                announcesOwn: options.delivery.announceOwn
            ),
            maxConcurrent: options.limits.maxConcurrentPolls,
            wakes: wakes,
            progress: process.progress,
            news: process.news
        )
        dispatcher = DispatchService(
            polls: polls,
            sinks: process.sinks,
            options: .init(delivery: options.delivery, maxRetries: options.outbox.maxRetries),
            context: context
        )
        acknowledger = AcknowledgeService(
            polls: polls,
            options: options.acknowledge,
            limit: options.limits.acknowledgementsPerMinute,
            context: context
        )
        let writer = CallbackWriter(options: options.callbacks, pseudonym: process.pseudonym)
        let content = PollContent(
            polls: polls,
            service: pollService,
            store: store,
            server: account.server,
            environment: environment,
            names: options.delivery.projectNames
        )
        try await process.storeDigests(parts.digests, options, account: active, writer: writer)
        digests = Self.digests(process, parts, options, writer: writer, content: content, context: context)
        callbacks =
            parts.callbacks.isEmpty
            ? nil : CallbackService(receivers: parts.callbacks, writer: writer, context: context)
    }

    private static func polls(_ process: AgentProcess, _ parts: AgentParts, _ options: AgentOptions) -> [Poll] {
        // One list for every poll of a kind, because there can be many polls.
        let overlapping = Dictionary(
            uniqueKeysWithValues: PollKind.allCases.map { kind in
                (kind, options.polls.filter { $0.kind.overlaps(kind) }.map(\.name))
            }
        )
        return zip(options.polls, parts.schedules).map { poll, schedule in
            Poll(
                options: poll,
                label: process.environment.metrics.pollNames[poll.name.rawValue]!,
                schedule: schedule,
                splay: Splay.delay(instance: process.instance, poll: poll.name, within: poll.splay),
                overlapping: overlapping[poll.kind] ?? []
            )
        }
    }

    /// Returns the active identity, after the gate has restored its waits and a token for the identity is possible.
    private static func activate(
        _ account: Account,
        _ process: AgentProcess,
        _ parts: AgentParts
    ) async throws(AgentError) -> DID? {
        let active: DID?
        do throws(StoreError) {
            active = try await process.store.activeIdentity().did
            try await account.gate.restore(now: process.environment.time.now)
        } catch {
            throw AgentError(.failed, error.description)
        }
        try await parts.validate(account: active)
        return active
    }

    private static func account(_ process: AgentProcess, _ parts: AgentParts, _ options: AgentOptions) -> Account {
        let environment = process.environment
        let identity = IdentityContext(
            store: process.store,
            server: parts.url.origin,
            isShared: options.storage.owner == .host,
            logger: environment.logger,
            now: { [time = environment.time] in time.now }
        )
        let gate = Gate(
            server: parts.url.origin,
            limits: GateLimits(
                requestsPerMinute: options.limits.requestsPerMinute,
                acknowledgementsPerMinute: options.limits.acknowledgementsPerMinute,
                windows: .perAccount
            ),
            dialect: options.server.dialect.fixed,
            store: process.store,
            clock: environment.clock,
            observer: GateGauges(metrics: environment.metrics)
        )
        process.gates.add(gate)
        let api = EndorserAPI(
            client: EndorserClient(
                http: process.http,
                baseURL: parts.url.base,
                clientVersion: options.server.clientVersion ?? AgentVersion.userAgent,
                userAgent: options.server.userAgent ?? AgentVersion.userAgent,
                timeout: options.server.timeout,
                maxResponseBytes: options.server.maxResponseBytes
            ),
            gate: gate,
            tokens: parts.tokens,
            assumedDialect: parts.assumedDialect,
            requester: process.requester,
            environment: environment,
            progress: process.progress
        )
        return Account(identity: identity, api: api)
    }

    private static func digests(
        _ process: AgentProcess,
        _ parts: AgentParts,
        _ options: AgentOptions,
        writer: CallbackWriter,
        content: PollContent,
        context: WorkerContext
    ) -> DigestService? {
        guard !parts.digests.isEmpty else { return nil }
        return DigestService(
            digests: parts.digests.map { $0.placed(for: process.instance) },
            sinks: process.sinks,
            tools: .init(
                fetcher: DigestFetcher(http: process.http, requester: process.requester, polls: content),
                writer: writer,
                locale: options.delivery.locale
            ),
            context: context
        )
    }

    /// The background services in their start order. They stop in reverse: polling first, then delivery, then
    /// acknowledgement.
    var services: [any Service] {
        let callbacks: [any Service] = callbacks.map { [$0] } ?? []
        let digests: [any Service] = digests.map { [$0] } ?? []
        return callbacks + [acknowledger, dispatcher] + digests + [pollService]
    }

    /// Cancels the work for a previous identity, and returns when it has ended.
    func abort() async {
        async let cycles: Void = pollService.abort()
        async let deliveries: Void = dispatcher.abort()
        async let acknowledgements: Void = acknowledger.abort()
        async let digests: Void? = digests?.abort()
        _ = await (cycles, deliveries, acknowledgements, digests)
    }
}
