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
    let process: AgentProcess
    let options: AgentOptions
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
    /// The synthetic changes; `nil` if none are configured.
    let canary: CanaryService?

    /// Makes the parts; nothing runs yet.
    ///
    /// - Throws: ``AgentError`` of kind `failed` if the database fails, of kind `configuration` if there can be no
    ///   token for the active identity.
    init(process: AgentProcess, parts: AgentParts, options: AgentOptions) async throws(AgentError) {
        (self.process, self.options) = (process, options)
        let maker = AccountRuntimeMaker(process: process, parts: parts, options: options, wakes: wakes)
        let account = maker.account()
        self.account = account
        let context = WorkerContext(
            store: process.store,
            account: account,
            environment: process.environment,
            wakes: wakes
        )
        self.context = context
        let active = try await maker.activate(account)
        polls = maker.polls()
        pollService = maker.pollService(account, polls)
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
        try await process.storeDigests(parts.digests, options, account: active, writer: writer)
        let content = PollContent(
            polls: polls,
            service: pollService,
            store: process.store,
            server: account.server,
            environment: process.environment,
            names: options.delivery.projectNames
        )
        digests = maker.digests(writer, content, context)
        callbacks = maker.callbacks(writer, context)
        canary = options.canary.map { CanaryService(every: $0.every, context: context) }
    }

    /// The background services in their start order. They stop in reverse: polling first, then delivery, then
    /// acknowledgement.
    var services: [any Service] {
        let callbacks: [any Service] = callbacks.map { [$0] } ?? []
        let digests: [any Service] = digests.map { [$0] } ?? []
        let canary: [any Service] = canary.map { [$0] } ?? []
        return callbacks + [acknowledger, dispatcher] + digests + canary + [pollService]
    }

    /// Keeps the problems of `former`, the runtime before a reload, until the part that has one is tried again.
    func keepProblems(of former: AccountRuntime) async {
        guard account.server == former.account.server else { return }
        acknowledger.keepFailures(of: former.acknowledger)
        pollService.keepProblems(of: former.pollService)
        await account.gate.keepCircuit(of: former.account.gate)
    }

    /// Cancels the work for a previous identity, and returns when it has ended.
    func abort() async {
        process.pollManager.abort()
        async let cycles: Void = pollService.abort()
        async let deliveries: Void = dispatcher.abort()
        async let acknowledgements: Void = acknowledger.abort()
        async let digests: Void? = digests?.abort()
        _ = await (cycles, deliveries, acknowledgements, digests)
    }

    /// The store's present state, with the streams of the active identity.
    ///
    /// - Throws: ``StoreError/busy`` also if the store does not respond in time.
    func snapshot() async throws(StoreError) -> StoreSnapshot {
        guard await process.store.answersInTime() else { throw .busy }
        return try await process.store.status.snapshot(try await streams())
    }

    func streams() async throws(StoreError) -> [StreamKey] {
        guard let did = try await account.identity.current().identity.did else { return [] }
        return polls.map { account.stream($0.name, of: did) }
    }
}

/// Makes the parts of a runtime.
private struct AccountRuntimeMaker {
    let process: AgentProcess
    let parts: AgentParts
    let options: AgentOptions
    let wakes: WakeSignals

    private var environment: Environment { process.environment }
    private var store: Store { process.store }

    func account() -> Account {
        let server = parts.url.origin
        let identity = IdentityContext(
            store: store,
            isShared: options.storage.owner == .host,
            logger: environment.logger,
            now: { [time = environment.time] in time.now }
        )
        let gate = process.gates.gate(to: server) { jumps in
            Gate(
                server: server,
                limits: GateLimits(
                    requestsPerMinute: options.limits.requestsPerMinute,
                    acknowledgementsPerMinute: options.limits.acknowledgementsPerMinute,
                    windows: .perAccount
                ),
                dialect: options.server.dialect.fixed,
                store: store,
                clock: environment.clock,
                observer: GateGauges(metrics: environment.metrics),
                jumps: jumps
            )
        }
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
            tokens: TokenMemory(
                of: parts.tokens,
                monotonic: { [time = environment.time] in time.monotonic },
                onAnswer: { [refreshes = environment.metrics.clock.tokenRefreshes] isToken in
                    refreshes[isToken ? .ok : .failed].increment()
                }
            ),
            assumedDialect: parts.assumedDialect,
            requester: process.requester,
            environment: environment,
            progress: process.progress
        )
        return Account(identity: identity, api: api)
    }

    /// Returns the active identity, after the gate has restored its waits and a token for the identity is possible.
    func activate(_ account: Account) async throws(AgentError) -> DID? {
        let active: DID?
        do throws(StoreError) {
            active = try await store.identity.active().did
            if let active, !store.reads { try await store.deliveries.freeLeases(of: active) }
            try await account.gate.restore(now: environment.time.now)
        } catch {
            throw AgentError.database(error)
        }
        try await parts.validate(account: active)
        return active
    }

    func polls() -> [Poll] {
        // One list for every poll of a kind, because there can be many polls.
        let overlapping = Dictionary(
            uniqueKeysWithValues: PollKind.allCases.map { kind in
                (kind, options.polls.filter { $0.kind.overlaps(kind) }.map(\.name))
            }
        )
        return zip(options.polls, parts.schedules).map { poll, schedule in
            Poll(
                options: poll,
                label: environment.metrics.pollNames[poll.name.rawValue]!,
                schedule: schedule,
                staleAfter: poll.staleAfter ?? schedule.staleAfter(from: environment.time.now),
                splay: Splay.delay(instance: process.instance, poll: poll.name, within: poll.splay),
                overlapping: overlapping[poll.kind] ?? []
            )
        }
    }

    func pollService(_ account: Account, _ polls: [Poll]) -> PollService {
        PollService(
            polls: polls,
            shared: PollCycle.Shared(
                environment: environment,
                store: store,
                account: account,
                outbox: options.outbox,
                longestCycle: options.limits.cycle,
                announcesOwn: options.delivery.announceOwn,
                retryAttempts: options.server.retryAttempts
            ),
            maxConcurrent: options.limits.maxConcurrentPolls,
            wakes: wakes,
            progress: process.progress,
            news: process.news
        )
    }

    func digests(_ writer: CallbackWriter, _ content: PollContent, _ context: WorkerContext) -> DigestService? {
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

    func callbacks(_ writer: CallbackWriter, _ context: WorkerContext) -> CallbackService? {
        guard !parts.callbacks.isEmpty else { return nil }
        return CallbackService(receivers: parts.callbacks, writer: writer, context: context)
    }
}
