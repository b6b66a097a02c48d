public import StarwatchCore
import StarwatchStore
import StarwatchTransport
import Synchronization

/// API for host programs. <doc:HostApps> maps it to the names in the requirements.
extension Agent {
    // MARK: - Identity and stars

    /// The active identity; `nil`: signed out.
    ///
    /// - Throws: ``AgentError`` of kind `failed` when the database fails.
    public func activeIdentity() async throws(AgentError) -> DID? {
        do throws(StoreError) { return try await store.activeIdentity().did } catch {
            throw AgentError(.failed, error.description)
        }
    }

    /// Changes the active identity; `nil` signs out.
    ///
    /// On return, no work of the previous identity is in flight. Its cycles, deliveries and requests are cancelled, its
    /// tokens deleted, and its open rows cancelled. The new identity has no stars until they are set.
    ///
    /// - Throws: ``AgentError`` of kind `failed`, also if there can be no token for the identity.
    public func setActiveIdentity(_ did: DID?) async throws(AgentError) {
        do throws(ControlError) { _ = try await setIdentity(did) } catch { throw AgentError(.failed, error.message) }
    }

    /// Schedules the deletion of an inactive identity's data in 30 days. Activating it before then keeps the data.
    ///
    /// - Throws: ``AgentError`` of kind `failed`, also for the active identity and for an identity without data.
    public func removeAccount(_ did: DID) async throws(AgentError) {
        do throws(ControlError) { _ = try await removeIdentity(did) } catch { throw AgentError(.failed, error.message) }
    }

    /// Replaces the active identity's stars with these plans. A cycle in flight uses them from its next page.
    ///
    /// - Returns: The starred plans now.
    /// - Throws: ``AgentError`` of kind `failed`, also if no identity is active.
    @discardableResult
    public func updateStars(_ planIDs: [String]) async throws(AgentError) -> [String] {
        try await change(.set, planIDs)
    }

    /// Switches the polls of starred plans off or on for the active identity. The stars stay.
    ///
    /// - Throws: As ``updateStars(_:)``.
    public func setStarsOptedOut(_ isOptedOut: Bool) async throws(AgentError) {
        _ = try await change(isOptedOut ? .optOut : .optIn, [])
    }

    /// Discards the cached tokens. The next request gets a new one.
    public func refreshAuthentication() async { await runtime.account.api.tokens.forget() }

    private func change(_ operation: StarsChange.Operation, _ planIDs: [String]) async throws(AgentError) -> [String] {
        do throws(ControlError) {
            return try await changeStars(StarsChange(operation: operation, planIDs: planIDs))
        } catch {
            throw AgentError(.failed, error.message)
        }
    }

    // MARK: - Polling

    /// Runs one cycle of a configured poll now, and delivers and acknowledges its changes.
    ///
    /// - Returns: The cycle's outcome; `nil` if it was skipped.
    /// - Throws: ``AgentError`` of kind `failed` if the poll does not exist.
    @discardableResult
    public func runNow(_ poll: PollName) async throws(AgentError) -> PollOutcome? {
        do throws(ControlError) {
            return PollOutcome(rawValue: try await runPoll(poll.rawValue).outcome)
        } catch {
            throw AgentError(.failed, error.message)
        }
    }

    /// The agent's identity, server, database and tokens, for the host's requests.
    ///
    /// - Throws: As ``activeIdentity()``.
    public func pollingContext() async throws(AgentError) -> PollingContext {
        PollingContext(
            server: ServerURL(options.server.url)?.base ?? options.server.url,
            account: try await activeIdentity(),
            storage: storage,
            tokens: tokens
        )
    }

    /// Sends a request of the host to the agent's server on behalf of the active identity.
    public func execute<Request, Response>(
        _ request: PollRequest<Request, Response>
    ) async throws(AgentError) -> PollResult<Response> {
        await pollManager.execute(request, context: try await pollingContext())
    }

    /// The host's watermarks in the agent's database.
    public var storage: any StorageAdapter { SQLiteStorage(store: store, time: time) }

    private var tokens: PollTokens {
        if options.auth.kind == .none { return .none }
        let api = runtime.account.api
        return PollTokens(api.tokens) { await api.gate.dialect ?? api.assumedDialect }
    }

    // MARK: - Observing

    /// A stream of the agent's events from now on. Every call returns a new stream, which ends with the agent.
    public func news() -> AsyncStream<AgentNews> { process.news.listen() }

    /// Sets the handler of user actions; `nil` removes it.
    public func setActionHandler(_ actions: (any NotificationActions)?) { self.actions.withLock { $0 = actions } }

    /// The agent's status, as `starwatch status` shows it.
    public func state() async -> AgentStatus { await status() }
}
