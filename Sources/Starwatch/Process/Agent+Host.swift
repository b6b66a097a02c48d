public import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// What a host program asks of its agent. <doc:HostApps> says what the requirements call it.
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

    /// Makes another identity the active one; `nil` signs out.
    ///
    /// When it returns, nothing of the former identity is under way any more: its cycles, deliveries and requests are
    /// given up, its tokens forgotten and its open rows cancelled. The new one's stars are empty until they are set.
    ///
    /// - Throws: ``AgentError`` of kind `failed`, also for an identity that there can be no token for.
    public func setActiveIdentity(_ did: DID?) async throws(AgentError) {
        do throws(ControlError) { _ = try await setIdentity(did) } catch { throw AgentError(.failed, error.message) }
    }

    /// Deletes what is stored of an identity that is not active, 30 days from now; making it active before keeps it.
    ///
    /// - Throws: ``AgentError`` of kind `failed`, also for the active identity and one of which nothing is stored.
    public func removeAccount(_ did: DID) async throws(AgentError) {
        do throws(ControlError) { _ = try await removeIdentity(did) } catch { throw AgentError(.failed, error.message) }
    }

    /// Stars these plans of the active identity, and no others. The next page of a cycle under way asks for them.
    ///
    /// - Returns: The starred plans now.
    /// - Throws: ``AgentError`` of kind `failed`, also when no identity is active.
    @discardableResult
    public func updateStars(_ planIDs: [String]) async throws(AgentError) -> [String] {
        try await change(.set, planIDs)
    }

    /// Switches the polls of starred plans off for the active identity, or on again. The stars stay.
    ///
    /// - Throws: As ``updateStars(_:)``.
    public func setStarsOptedOut(_ isOptedOut: Bool) async throws(AgentError) {
        _ = try await change(isOptedOut ? .optOut : .optIn, [])
    }

    /// Forgets the tokens that were made or fetched: the next request has another.
    public func refreshAuthentication() async { await runtime.account.api.tokens.forget() }

    private func change(_ operation: StarsChange.Operation, _ planIDs: [String]) async throws(AgentError) -> [String] {
        do throws(ControlError) {
            return try await changeStars(StarsChange(operation: operation, planIDs: planIDs))
        } catch {
            throw AgentError(.failed, error.message)
        }
    }

    // MARK: - Polling

    /// Runs one cycle of a configured poll now, and delivers and acknowledges what there is.
    ///
    /// - Returns: How the cycle ended; `nil` when it was skipped.
    /// - Throws: ``AgentError`` of kind `failed` when there is no poll of that name.
    @discardableResult
    public func runNow(_ poll: PollName) async throws(AgentError) -> PollOutcome? {
        do throws(ControlError) {
            return PollOutcome(rawValue: try await runPoll(poll.rawValue).outcome)
        } catch {
            throw AgentError(.failed, error.message)
        }
    }

    /// The agent's identity, server, database and tokens, for requests of the host's own.
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

    /// Makes a request of the host's own to the agent's server, on behalf of the active identity.
    public func execute<Request, Response>(
        _ request: PollRequest<Request, Response>
    ) async throws(AgentError) -> PollResult<Response> {
        await pollManager.execute(request, context: try await pollingContext())
    }

    /// Watermarks of the host's own, in the agent's database.
    public var storage: any StorageAdapter { SQLiteStorage(store: store, time: time) }

    private var tokens: PollTokens {
        if options.auth.kind == .none { return .none }
        let api = runtime.account.api
        return PollTokens(api.tokens) { await api.gate.dialect ?? api.assumedDialect }
    }

    // MARK: - Looking

    /// What the agent does from now on. Every call has a sequence of its own, which ends with the agent.
    public func news() -> AsyncStream<AgentNews> { process.news.listen() }

    /// How everything stands: what `starwatch status` shows.
    public func state() async -> AgentStatus { await status() }
}
