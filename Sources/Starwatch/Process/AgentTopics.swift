import StarwatchCore
import StarwatchPolling
import StarwatchTelemetry

/// An agent as its servers see it: the topics of the control API, for the active identity or for one of many accounts.
package struct AgentTopics: Sendable {
    let runtime: AccountRuntime
    let reloader: Reloader
    /// The accounts of a process that serves many; `nil` for one that serves the active identity.
    let fleet: FleetService?

    init(_ runtime: AccountRuntime, _ reloader: Reloader, _ fleet: FleetService?) {
        (self.runtime, self.reloader, self.fleet) = (runtime, reloader, fleet)
    }

    var process: AgentProcess { runtime.process }
    private var account: Account { runtime.account }
    private var options: AgentOptions { process.options }
    private var environment: Environment { process.environment }

    // MARK: - Topics

    var polls: PollControl { PollControl(runtime: runtime) }
    var outbox: OutboxControl {
        OutboxControl(
            dispatcher: runtime.dispatcher,
            wakes: runtime.wakes,
            pseudonym: fleet?.accounts.pseudonym
        )
    }
    var sinks: SinkControl {
        SinkControl(
            sinks: process.sinks,
            identity: account.identity,
            store: process.store,
            environment: environment,
            pseudonym: process.pseudonym,
            wake: runtime.wakes.dispatch
        )
    }
    var notifications: NotificationControl {
        NotificationControl(
            identity: account.identity,
            store: process.store,
            sinks: process.sinks,
            clock: environment.clock,
            wakes: runtime.wakes,
            feed: options.delivery.feedKeep == nil ? nil : process.parts.feed,
            // Those of the host program are for the active identity.
            handler: account.identity.served == nil ? process.actions : ActionHandler(),
            refresh: { [runtime] name throws(ControlError) in
                let poll = try runtime.polls.named(name.rawValue)
                _ = await runtime.pollService.refresh(poll)
            }
        )
    }
    var identity: IdentityControl {
        IdentityControl(
            account: account,
            pseudonym: process.pseudonym,
            names: options.delivery.projectNames,
            news: process.news,
            endWork: { [runtime] in await runtime.abort() },
            startPolls: { [runtime] in runtime.pollService.startNew() },
            noteKeyAge: { [keys] in await keys.noteAge() }
        )
    }
    var moves: MoveControl {
        MoveControl(
            identity: identity,
            accounts: fleet?.accounts,
            sinks: Set(process.sinks.map(\.name)),
            polls: Set(options.polls.map(\.name)),
            isOfHost: options.storage.owner == .host,
            keys: process.parts.signingKeys
        )
    }
    var keys: KeysControl {
        KeysControl(
            auth: options.tokens,
            account: account,
            keys: process.parts.signingKeys,
            seen: process.lifecycle.seen,
            pseudonym: process.pseudonym
        )
    }
    var digests: DigestControl {
        DigestControl(
            service: runtime.digests,
            identity: account.identity,
            store: process.store,
            time: environment.time,
            dispatcher: runtime.dispatcher
        )
    }
    var stories: StoryFinder {
        StoryFinder(
            account: account,
            sinks: process.sinks,
            options: options,
            pseudonym: process.pseudonym,
            service: runtime.pollService
        )
    }
    var status: StatusReporter {
        StatusReporter(runtime: runtime, digests: digests, fleet: fleet, sinks: process.sinks)
    }
    var metrics: MetricsReporter { MetricsReporter(runtime: runtime, fleet: fleet) }

    // MARK: - Accounts

    /// Whether these are the topics of nobody, in a process that serves many accounts.
    var areOfNobody: Bool { fleet != nil && account.identity.served == nil }

    /// The accounts of a process that serves many.
    func ofMany() throws(ControlError) -> AccountsControl {
        if let fleet { return fleet.accounts }
        throw Self.isOfOne
    }

    /// - Throws: In a process that serves many accounts, if none of them is named.
    func checkAccountIsNamed() throws(ControlError) {
        if areOfNobody { throw ControlError(.conflict, ControlOperation.problemWithoutAccount) }
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
        let counters = environment.metrics
        do {
            let answer = try await work()
            if let operation { counters.controlRequests[operation, .ok].increment() }
            return answer
        } catch {
            if let operation { counters.controlRequests[operation, .failed].increment() }
            throw ControlError(error)
        }
    }
}
