import StarwatchCore
import StarwatchPolling
import StarwatchTelemetry

/// The topics of the control API, and of what servers show. Each has the parts that its verbs need.
package struct AgentTopics: Sendable {
    let polls: PollControl
    let outbox: OutboxControl
    let sinks: SinkControl
    let quarantine: QuarantineControl
    let notifications: NotificationControl
    let identity: IdentityControl
    let stars: StarsControl
    let keys: KeysControl
    let signingKeys: SigningKeyControl
    let digests: DigestControl
    let stories: StoryFinder
    let logs: StoredLogs
    let journal: Journal
    let status: StatusReporter
    let health: HealthCheck
    let metrics: MetricsReporter
    let ports: PortMonitor
    let reloader: Reloader
    /// The accounts of a process that serves many; `nil` for one that serves the active identity.
    let fleet: Fleet?
    let moves: MoveControl
    /// Whether these are the topics of one of many accounts.
    let isOfAccount: Bool
    private let counters: AgentMetrics

    init(_ runtime: AccountRuntime, _ reloader: Reloader, _ fleet: Fleet?) {
        (self.reloader, self.fleet) = (reloader, fleet)
        isOfAccount = runtime.account.identity.served != nil
        counters = runtime.process.environment.metrics
        polls = PollControl(runtime: runtime)
        let (process, options, account) = (runtime.process, runtime.options, runtime.account)
        outbox = OutboxControl(
            dispatcher: runtime.dispatcher,
            wakes: runtime.wakes,
            pseudonym: options.accounts == .many ? process.pseudonym : nil
        )
        let (environment, store) = (process.environment, process.store)
        sinks = SinkControl(
            sinks: process.sinks,
            identity: account.identity,
            store: store,
            environment: environment,
            pseudonym: process.pseudonym,
            wake: runtime.wakes.dispatch
        )
        quarantine = QuarantineControl(
            polls: runtime.polls,
            account: account.identity.served,
            store: store,
            clock: environment.clock
        )
        notifications = Self.notifications(runtime)
        let age = SigningKeyAge(auth: options.auth, store: store, seen: process.lifecycle.seen)
        identity = Self.identity(runtime, age)
        moves = MoveControl(
            identity: identity,
            accounts: fleet?.accounts,
            sinks: Set(process.sinks.map(\.name)),
            polls: Set(options.polls.map(\.name)),
            isOfHost: options.storage.owner == .host,
            keys: process.signingKeys,
            wakes: runtime.wakes
        )
        stars = StarsControl(
            account: account,
            store: store,
            clock: environment.clock,
            names: options.delivery.projectNames,
            wakes: runtime.wakes,
            startPolls: { runtime.pollService.startNew() }
        )
        keys = KeysControl(store: store, pseudonym: process.pseudonym, logger: environment.logger)
        signingKeys = SigningKeyControl(
            auth: options.auth,
            identity: account.identity,
            store: store,
            keys: process.signingKeys,
            age: age,
            environment: environment,
            pseudonym: process.pseudonym
        )
        digests = DigestControl(
            service: runtime.digests,
            identity: account.identity,
            store: store,
            time: environment.time,
            dispatcher: runtime.dispatcher
        )
        stories = Self.stories(runtime)
        journal = process.journal
        logs = StoredLogs(recorder: process.logs.recorder, store: store)
        status = StatusReporter(runtime: runtime, digests: digests, fleet: fleet, sinks: process.sinks)
        health = HealthCheck(process: process, requestTimeout: options.server.timeout, fleet: fleet)
        metrics = MetricsReporter(runtime: runtime, fleet: fleet)
        ports = PortMonitor(lifecycle: process.lifecycle, environment: environment)
    }

    /// The accounts of a process that serves many.
    func ofMany() throws(ControlError) -> AccountsControl {
        if let fleet { return fleet.accounts }
        throw Self.isOfOne
    }

    /// - Throws: In a process that serves many accounts, if none of them is named.
    func checkAccountIsNamed() throws(ControlError) {
        if fleet != nil, !isOfAccount {
            throw ControlError(.conflict, ControlOperation.problemWithoutAccount)
        }
    }

    private static let isOfOne = ControlError(
        .conflict,
        "This agent works for the active identity only; set accounts: many in its configuration first."
    )

    /// Does `work` with the topics of one of many accounts.
    ///
    /// - Parameter changes: Whether a visit must follow.
    func about<Answer: Sendable>(
        _ account: DID,
        changes: Bool,
        _ work: (AgentTopics) async throws(ControlError) -> Answer
    ) async throws(ControlError) -> Answer {
        guard let fleet else { throw Self.isOfOne }
        let answer = try await fleet.residents.with(account) { runtime throws(ControlError) in
            try await work(AgentTopics(runtime, reloader, fleet))
        }
        if changes { await fleet.accounts.noteChange(of: account) }
        return answer
    }

    /// Counts a request by its outcome.
    ///
    /// - Parameter operation: `nil` counts nothing.
    func counted<Answer: Sendable>(
        _ operation: ControlOperation?,
        _ work: () async throws -> Answer
    ) async throws(ControlError) -> Answer {
        do {
            let answer = try await work()
            if let operation { counters.controlRequests[operation, .ok].increment() }
            return answer
        } catch {
            if let operation { counters.controlRequests[operation, .failed].increment() }
            throw ControlError(error)
        }
    }

    private static func notifications(_ runtime: AccountRuntime) -> NotificationControl {
        NotificationControl(
            identity: runtime.account.identity,
            store: runtime.process.store,
            sinks: runtime.process.sinks,
            clock: runtime.process.environment.clock,
            wakes: runtime.wakes,
            feed: runtime.options.delivery.feedKeep == nil ? nil : runtime.process.feed,
            handler: ActionHandler(),
            refresh: { name throws(ControlError) in
                let poll = try runtime.polls.named(name.rawValue)
                _ = await runtime.pollService.refresh(poll)
            }
        )
    }

    private static func stories(_ runtime: AccountRuntime) -> StoryFinder {
        StoryFinder(
            account: runtime.account,
            store: runtime.process.store,
            sinks: runtime.process.sinks,
            options: runtime.options,
            environment: runtime.process.environment,
            pseudonym: runtime.process.pseudonym,
            changeHash: runtime.process.changeHash,
            polls: runtime.pollService
        )
    }

    private static func identity(_ runtime: AccountRuntime, _ age: SigningKeyAge) -> IdentityControl {
        IdentityControl(
            account: runtime.account,
            store: runtime.process.store,
            environment: runtime.process.environment,
            pseudonym: runtime.process.pseudonym,
            news: runtime.process.news,
            endWork: { await runtime.abort() },
            startWork: {
                runtime.pollService.startNew()
                await age.note()
            }
        )
    }
}
