import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

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
    private let lateDispatcher: Late<DispatchService>
    var dispatcher: DispatchService { lateDispatcher.value }
    let acknowledger: AcknowledgeService
    /// The digests; `nil` if none are configured.
    let digests: DigestService?
    /// The callbacks; `nil` if none are configured.
    let callbacks: CallbackService?
    /// The synthetic changes; `nil` if none are configured.
    let canary: CanaryService?
    let rhythms: ChangeRhythms

    private let maker: AccountRuntimeMaker

    /// Makes the parts of the active identity; nothing runs yet. With ``AccountMode/many`` accounts, nobody is active, and
    /// ``init(of:like:)`` makes those of each account.
    ///
    /// - Throws: ``AgentError`` of kind `failed` if the database fails, of kind `configuration` if there can be no
    ///   token for the active identity.
    convenience init(process: AgentProcess, parts: AgentParts, options: AgentOptions) async throws(AgentError) {
        let maker = AccountRuntimeMaker(process: process, parts: parts, options: options)
        let writer = CallbackWriter(options: options.callbacks, pseudonym: process.pseudonym)
        self.init(maker, of: nil, writer)
        let active = try await maker.activate(account)
        try await process.storeDigests(parts.digests, options, account: active, writer: writer)
    }

    /// Makes the parts of one of many accounts, which share with `base` what does not depend on the account.
    convenience init(of did: DID, like base: AccountRuntime) { self.init(base.maker, of: did, nil) }

    /// - Parameter writer: Of the digests and callbacks; `nil`: there are none.
    private init(_ maker: AccountRuntimeMaker, of served: DID?, _ writer: CallbackWriter?) {
        self.maker = maker
        (process, options) = (maker.process, maker.options)
        rhythms = ChangeRhythms(store: maker.process.store)
        account = maker.account(served)
        context = WorkerContext(store: process.store, account: account, environment: process.environment, wakes: wakes)
        polls = served.map(maker.polls) ?? maker.polls
        pollService = maker.pollService(account, polls, wakes)
        lateDispatcher = Late { [polls, process, options, context] in
            DispatchService(
                polls: polls,
                sinks: process.sinks,
                options: options,
                account: served.map(process.pseudonym.hash),
                context: context
            )
        }
        acknowledger = AcknowledgeService(
            polls: polls,
            options: options.acknowledge,
            limit: options.limits.acknowledgementsPerMinute,
            context: context
        )
        let content = PollContent(
            polls: polls,
            service: pollService,
            store: process.store,
            server: account.server,
            environment: process.environment,
            names: options.delivery.projectNames
        )
        digests = writer.flatMap { [context] in maker.digests($0, content, context) }
        callbacks = writer.flatMap { [context] in maker.callbacks($0, context) }
        canary = maker.canaries.flatMap { [context] memory in
            memory.options.account == served ? CanaryService(memory, context: context) : nil
        }
    }

    /// The requests that many accounts share; `nil` if each asks alone.
    var sharing: SharedRequests? { maker.sharing }

    /// The facts about the synthetic changes, of whichever account gets them; `nil` if none are configured.
    var canaryFacts: HealthFacts.Canary? { maker.canaries?.facts(in: process.environment) }

    /// The parts of the account's work beside its polls, in the order in which they stop.
    var parts: [VisitPart] {
        var parts: [VisitPart] = []
        if let canary { parts.append(VisitPart(.canary, wake: nil) { canary }) }
        if let digests { parts.append(VisitPart(.digests, wake: wakes.digests) { digests }) }
        parts += [
            VisitPart(.delivery, wake: wakes.dispatch, finishes: true) { self.dispatcher },
            VisitPart(.acknowledgement, wake: wakes.acknowledge, finishes: true) { self.acknowledger },
        ]
        if let callbacks { parts.append(VisitPart(.callbacks, wake: wakes.callbacks) { callbacks }) }
        return parts
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
        // The requests of a host program belong to no single one of many accounts.
        if options.accounts == .one { process.pollManager.abort() }
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
        guard await StorePatience.suffices(for: process.store) else { throw .busy }
        return try await process.store.status.snapshot(try await streams())
    }

    func streams() async throws(StoreError) -> [StreamKey] {
        guard let did = try await account.identity.current().identity.did else { return [] }
        return polls.map { account.stream($0.name, of: did) }
    }
}

/// Makes the parts of runtimes, and has what all accounts share.
private struct AccountRuntimeMaker {
    let process: AgentProcess
    let parts: AgentParts
    let options: AgentOptions
    private let api: EndorserAPI
    private let lastCycles = LastCycles()
    /// The requests that accounts without a token share; `nil` if each asks alone.
    let sharing: SharedRequests?
    /// The polls of the active identity. Their splay is this installation's.
    let polls: [Poll]
    /// The synthetic changes; `nil` if none are configured.
    let canaries: CanaryMemory?

    init(process: AgentProcess, parts: AgentParts, options: AgentOptions) {
        (self.process, self.parts, self.options) = (process, parts, options)
        api = Self.api(process, parts, options)
        polls = Self.polls(process, parts, options)
        canaries = options.canary.map { CanaryMemory($0, startedAt: process.environment.time.now) }
        let shares = options.accounts == .many && options.fleet.sharedRequests && parts.tokens.isAnonymous
        sharing = shares ? SharedRequests(metrics: process.environment.metrics.fleet, polls: polls) : nil
    }

    private var environment: Environment { process.environment }
    private var store: Store { process.store }

    /// - Parameter served: One of many accounts; `nil`: the active identity.
    func account(_ served: DID?) -> Account {
        let identity = IdentityContext(
            store: store,
            served: served,
            isShared: options.storage.owner == .host,
            logger: environment.logger,
            now: { [time = environment.time] in time.now }
        )
        return Account(identity: identity, api: api)
    }

    private static func api(_ process: AgentProcess, _ parts: AgentParts, _ options: AgentOptions) -> EndorserAPI {
        let (server, environment) = (parts.url.origin, process.environment)
        var limits = GateLimits(
            requestsPerMinute: options.limits.requestsPerMinute,
            acknowledgementsPerMinute: options.limits.acknowledgementsPerMinute,
            windows: .perAccount
        )
        limits.requestsPerSecond = options.accounts == .many ? options.fleet.requestsPerSecond : nil
        let gate = process.gates.gate(to: server) { [limits] jumps in
            Gate(
                server: server,
                limits: limits,
                dialect: options.server.dialect.fixed,
                store: process.store,
                clock: environment.clock,
                observer: GateGauges(metrics: environment.metrics),
                jumps: jumps
            )
        }
        return EndorserAPI(
            client: EndorserClient(
                http: WatchedTransport(process.http) {
                    [certificates = environment.metrics.problems.certificates] expiry in
                    certificates.show(expiry, of: .server)
                },
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

    private static func polls(_ process: AgentProcess, _ parts: AgentParts, _ options: AgentOptions) -> [Poll] {
        let environment = process.environment
        // One list for every poll of a kind, because there can be many polls.
        let overlapping = Dictionary(
            uniqueKeysWithValues: PollKind.allCases.map { kind in
                (kind, options.polls.filter { $0.kind.overlaps(kind) }.map(\.name))
            }
        )
        return zip(options.polls, parts.schedules).map { poll, schedule in
            let gap = schedule.longestGap(from: environment.time.now)
            return Poll(
                poll,
                label: environment.metrics.pollNames[poll.name.rawValue]!,
                schedule: schedule,
                staleAfter: poll.staleAfter ?? Schedule.staleAfter(longestGap: gap),
                splay: Splay.delay(instance: process.instance, poll: poll.name, within: poll.splay),
                longestGap: gap,
                overlapping: overlapping[poll.kind] ?? []
            )
        }
    }

    /// The polls of one of many accounts. Each account has its own delay, so that they do not all ask at once.
    func polls(of did: DID) -> [Poll] {
        polls.map { poll in
            poll.delayed(by: Splay.delay(instance: did.rawValue, poll: poll.name, within: poll.options.splay))
        }
    }

    func pollService(_ account: Account, _ polls: [Poll], _ wakes: WakeSignals) -> PollService {
        PollService(
            polls: polls,
            shared: PollCycle.Shared(
                environment: environment,
                store: store,
                account: account,
                options: options,
                lastCycles: lastCycles,
                sharing: sharing
            ),
            // Many accounts are visited at once. Each polls one after the other.
            maxConcurrent: account.identity.served == nil ? options.limits.maxConcurrentPolls : 1,
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
            fetcher: DigestFetcher(http: process.http, requester: process.requester, polls: content),
            writer: writer,
            locale: options.delivery.locale,
            context: context
        )
    }

    func callbacks(_ writer: CallbackWriter, _ context: WorkerContext) -> CallbackService? {
        guard !parts.callbacks.isEmpty else { return nil }
        return CallbackService(receivers: parts.callbacks, writer: writer, context: context)
    }
}

/// A value that is made at its first use: most visits use few of an account's services.
final class Late<Value: Sendable>: Sendable {
    private let state: Mutex<Value?> = Mutex(nil)
    private let make: @Sendable () -> Value

    init(_ make: @escaping @Sendable () -> Value) { self.make = make }

    var value: Value {
        state.withLock { state in
            if let value = state { return value }
            let value = make()
            state = value
            return value
        }
    }
}
