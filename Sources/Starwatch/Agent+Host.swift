public import ServiceLifecycle
public import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// API for host programs. <doc:HostApps> maps it to the names in the requirements.
///
/// The work leaves the thread of requests, which it can reach with an actor's jobs. The host's task never continues there.
extension Agent {
    // MARK: - Identity and stars

    /// The active identity; `nil`: signed out.
    ///
    /// - Throws: ``AgentError`` of kind `failed` when the database fails.
    public func activeIdentity() async throws(AgentError) -> DID? {
        try await failing { try await store.identity.active().did }
    }

    /// Changes the active identity; `nil` signs out.
    ///
    /// On return, no work of the previous identity is in flight. Its cycles, deliveries and requests are cancelled, its
    /// tokens deleted, and its open rows cancelled. The new identity has no stars until they are set.
    ///
    /// - Throws: ``AgentError`` of kind `failed`, also if there can be no token for the identity.
    public func setActiveIdentity(_ did: DID?) async throws(AgentError) {
        _ = try await failing { try await perform(ControlAPI.setIdentity, IdentityChoice(did: did?.rawValue)) }
    }

    /// Schedules the deletion of an inactive identity's data in 30 days. Activating it before then keeps the data.
    ///
    /// - Throws: ``AgentError`` of kind `failed`, also for the active identity and for an identity without data.
    public func removeAccount(_ did: DID) async throws(AgentError) {
        _ = try await failing { try await perform(ControlAPI.removeIdentity, IdentityRemoval(did: did.rawValue)) }
    }

    /// Replaces the active identity's stars with these plans. A cycle in flight uses them from its next page.
    ///
    /// - Returns: The starred plans now.
    /// - Throws: ``AgentError`` of kind `failed`, also if no identity is active.
    @discardableResult
    public func updateStars(_ planIDs: [String]) async throws(AgentError) -> [String] {
        try await failing {
            try await perform(ControlAPI.changeStars, StarsChange(operation: .set, planIDs: planIDs)).planIDs
        }
    }

    /// Switches the polls of starred plans off or on for the active identity. The stars stay.
    ///
    /// - Throws: As ``updateStars(_:)``.
    public func setStarsOptedOut(_ isOptedOut: Bool) async throws(AgentError) {
        let change = StarsChange(operation: isOptedOut ? .optOut : .optIn, planIDs: [])
        _ = try await failing { try await perform(ControlAPI.changeStars, change) }
    }

    /// Switches the polls of a kind off or on for the active identity. Their undelivered changes are suppressed.
    ///
    /// - Throws: As ``updateStars(_:)``.
    public func setOptedOut(_ isOptedOut: Bool, from kind: PollKind) async throws(AgentError) {
        let choice = KindChoice(kind: kind, optedOut: isOptedOut)
        _ = try await failing { try await perform(ControlAPI.chooseKind, choice) }
    }

    /// Discards the cached tokens. The next request gets a new one.
    public func refreshAuthentication() async {
        for runtime in [runtime] + (fleet?.residents.runtimes ?? []) { await runtime.account.api.tokens.forget() }
    }

    // MARK: - Polling

    /// Runs one cycle of a configured poll now, and delivers and acknowledges its changes.
    ///
    /// - Returns: The cycle's outcome; `nil` if it was skipped.
    /// - Throws: ``AgentError`` of kind `failed` if the poll does not exist.
    @discardableResult
    public func runNow(_ poll: PollName) async throws(AgentError) -> PollOutcome? {
        try await failing {
            PollOutcome(rawValue: try await perform(ControlAPI.runPoll, PollRun(poll.rawValue)).outcome)
        }
    }

    /// Runs one cycle of a poll now, whatever its schedule says. ``run(supervisor:)`` delivers and acknowledges.
    ///
    /// Cancelling the task cancels the cycle. Stored changes stay.
    ///
    /// - Returns: The cycle's outcome; `nil` if it was skipped or the poll does not exist.
    public func poll(_ name: PollName) async -> PollOutcome? {
        guard let poll = runtime.polls.first(where: { $0.name == name }) else { return nil }
        // The cycle is a task of its own, and this one continues where it was.
        return await runtime.pollService.pass(poll, runID: RandomID.runID()).outcome
    }

    /// The agent's identity, server, database and tokens, for the host's requests.
    ///
    /// - Throws: As ``activeIdentity()``.
    public func pollingContext() async throws(AgentError) -> PollingContext {
        let (api, account) = (runtime.account.api, try await activeIdentity())
        if let account { await api.stay(account) }
        return PollingContext(
            server: ServerURL(options.server.url)?.base ?? options.server.url,
            account: account,
            storage: storage,
            tokens: options.auth.kind == .none
                ? .none : PollTokens(api.tokens) { api.gate.known.dialect ?? api.assumedDialect }
        )
    }

    /// Sends a request of the host to the agent's server on behalf of the active identity.
    public func execute<Request, Response>(
        _ request: PollRequest<Request, Response>
    ) async throws(AgentError) -> PollResult<Response> {
        let context = try await pollingContext()
        return await Offload.run { await self.pollManager.execute(request, context: context) }
    }

    /// The host's watermarks in the agent's database.
    public var storage: any StorageAdapter { SQLiteStorage(store: store, time: process.environment.time) }

    // MARK: - Digests

    /// Fetches a digest's content now, with one request of at most 12 s, then renders the armed texts again.
    ///
    /// - Returns: `true` if the content is new; `false` if its source reports no change.
    /// - Throws: ``AgentError`` of kind `failed` if the fetch fails or the digest does not exist.
    @discardableResult
    public func fetchNow(_ digest: DigestName) async throws(AgentError) -> Bool {
        let report = try await failing { try await perform(ControlAPI.fetchDigest, digest.rawValue) }
        guard report.isFresh else {
            let content = options.digests.first { $0.name == digest }?.content
            let reason = content.flatMap { report.outcome.failure(of: $0) }
            throw AgentError(.failed, reason ?? "The fetch was given up, because the identity changed.")
        }
        return report.outcome == .fetched
    }

    /// Shows a digest now: the stored content with its time if it is recent enough, else the fixed text. The scheduled
    /// times do not change.
    ///
    /// - Returns: The id of the new notification.
    /// - Throws: ``AgentError`` of kind `failed` if nothing can be shown or the digest does not exist.
    @discardableResult
    public func showNow(_ digest: DigestName) async throws(AgentError) -> String {
        try await failing { try await perform(ControlAPI.showDigest, digest.rawValue).notificationID }
    }

    // MARK: - Observing

    /// A stream of the agent's events from now on. Every call returns a new stream, which ends with the agent.
    public func news() -> AsyncStream<AgentNews> { process.news.listen() }

    /// Sets the handler of user actions; `nil` removes it.
    public func setActionHandler(_ handler: (any NotificationActions)?) {
        process.actions.actions = handler
    }

    /// The agent's status, as `starwatch status` shows it.
    public func state() async -> AgentStatus { await Offload.run { await self.topics.status.status() } }
}

/// Does `work`. Its error becomes an ``AgentError`` with the same sentence.
private func failing<Value: Sendable>(
    _ work: @concurrent @Sendable () async throws -> Value
) async throws(AgentError) -> Value {
    do { return try await Offload.run(work) } catch {
        throw AgentError(.failed, (error as? ControlError)?.message ?? "\(error)")
    }
}

/// An agent as one service of a program's own `ServiceGroup`.
///
/// The group decides when the agent ends. Its graceful shutdown stops polling, delivers and acknowledges the work in
/// flight within ``LimitOptions/shutdown``, and closes the database. The group also handles signals, and every reload
/// is rejected.
public struct AgentService: Service {
    private let agent: Agent

    public init(_ agent: Agent) { self.agent = agent }

    /// - Throws: ``AgentError`` if a socket cannot be opened or a service fails.
    public func run() async throws { _ = try await agent.run(supervisor: .none, isEmbedded: true) }
}
