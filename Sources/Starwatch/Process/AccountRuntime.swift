import StarwatchCore
import StarwatchPolling
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport
import Synchronization

/// The parts of an account: its connection to the server, its polls, their delivery and acknowledgement, and its digests.
///
/// A process can create and drop many of them. The expensive parts belong to the ``AgentProcess``.
package final class AccountRuntime: Sendable {
    let process: AgentProcess
    package let account: Account
    package let polls: [Poll]
    let pollService: PollService
    /// Made at its first use: most visits deliver nothing.
    private let madeDispatcher = Mutex<DispatchService?>(nil)
    let acknowledger: AcknowledgeService
    /// The digests; `nil` if none are configured.
    let digests: DigestService?
    /// The callbacks; `nil` if none are configured.
    let callbacks: CallbackService?
    /// The synthetic changes; `nil` if none are configured.
    let canary: CanaryService?
    /// The rhythms of the polls; `nil` for many accounts, of which each would be a query.
    let rhythms: ChangeRhythms?

    /// Nothing runs yet.
    ///
    /// - Parameter served: An account of a fleet, whose events the runtime of nobody sends to callbacks; `nil`: the active
    ///   identity, or nobody.
    init(of served: DID?, in process: AgentProcess) {
        let (options, environment, parts) = (process.options, process.environment, process.parts)
        self.process = process
        rhythms = options.fleetOfMany == nil ? ChangeRhythms(store: process.store) : nil
        let identity = IdentityContext(
            store: process.store,
            served: served,
            isShared: options.storage.owner == .host,
            logger: environment.logger,
            now: { [time = environment.time] in time.now }
        )
        let account = Account(identity: identity, api: process.api(), wakes: WakeSignals())
        self.account = account
        // Each account has its own delay, so that they do not all ask at once.
        polls = served.map { process.polls.delayed(for: $0) } ?? process.polls
        pollService = PollService(
            polls: polls,
            account: account,
            options: options,
            lastCycles: process.lastCycles,
            sharing: process.sharing,
            progress: process.progress,
            news: process.news
        )
        acknowledger = AcknowledgeService(
            polls: polls,
            options: options.acknowledge,
            limit: options.limits.acknowledgementsPerMinute,
            account: account
        )
        canary = process.canaries.flatMap { $0.options.account == served ? CanaryService($0, account: account) : nil }
        let writer = process.callbackWriter
        callbacks =
            served != nil || parts.callbacks.isEmpty
            ? nil : CallbackService(receivers: parts.callbacks, writer: writer, account: account)
        guard !parts.digests.isEmpty else {
            digests = nil
            return
        }
        // Of many accounts each has its delay, and nobody has none.
        let place = served?.rawValue ?? (options.fleetOfMany == nil ? process.instance : nil)
        let pseudonym = served.map(process.pseudonym.hash)
        digests = DigestService(
            digests: parts.digests.map { $0.placed(for: place, account: pseudonym) },
            sinks: process.sinks,
            fetcher: DigestFetcher(
                http: parts.http,
                requester: process.requester,
                polls: PollContent(
                    polls: polls,
                    service: pollService,
                    store: process.store,
                    server: account.server,
                    environment: environment,
                    names: options.delivery.projectNames
                ),
                contents: process.contents
            ),
            writer: writer,
            locale: options.delivery.locale,
            account: account
        )
    }

    var options: AgentOptions { process.options }
    var wakes: WakeSignals { account.wakes }

    var dispatcher: DispatchService {
        madeDispatcher.withLock { made in
            if let made { return made }
            let dispatcher = DispatchService(
                polls: polls,
                sinks: process.sinks,
                options: options,
                account: account,
                pseudonym: account.identity.served.map(process.pseudonym.hash)
            )
            made = dispatcher
            return dispatcher
        }
    }

    /// The parts of the account's work beside its polls, in the order in which they stop.
    var parts: [VisitPart] {
        var parts: [VisitPart] = []
        if let canary { parts.append(VisitPart(.canary, wake: nil) { canary }) }
        if let digests {
            let polls = digests.digests.contains { $0.options.content.pollName != nil }
            parts.append(VisitPart(.digests, wake: wakes.digests, polls: polls) { digests })
        }
        parts += [
            VisitPart(.delivery, wake: wakes.dispatch, finishes: true) { self.dispatcher },
            VisitPart(.acknowledgement, wake: wakes.acknowledge, finishes: true) { self.acknowledger },
        ]
        if let callbacks { parts.append(VisitPart(.callbacks, wake: wakes.callbacks) { callbacks }) }
        return parts
    }

    /// Begins with the active identity: frees what its former process held, restores the waits of its server, and brings the
    /// database in line with its digests and callbacks.
    ///
    /// - Throws: ``AgentError`` of kind `failed` if the database fails, of kind `configuration` if there can be no
    ///   token for the active identity.
    func activate() async throws(AgentError) {
        let active: DID?
        do throws(StoreError) {
            active = try await process.store.identity.active().did
            if let active, !process.store.reads { try await process.store.deliveries.freeLeases(of: active) }
            try await account.gate.restore(now: process.environment.time.now)
        } catch {
            throw AgentError.database(error)
        }
        try await process.parts.validate(account: active)
        try await process.storeDigests(of: active)
    }

    /// Keeps the problems of `former`, the runtime before a reload, until the part that has one is tried again.
    func keepProblems(of former: AccountRuntime) async {
        guard account.server == former.account.server else { return }
        acknowledger.keepFailures(of: former.acknowledger)
        pollService.keepProblems(of: former.pollService)
        await account.gate.keepCircuit(of: former.account.gate)
    }

    /// Cancels the work for a previous identity, and returns when it has ended. The identity then leaves the gate.
    func abort() async {
        // The requests of a host program belong to no single one of many accounts.
        if options.fleetOfMany == nil { process.pollManager.abort() }
        async let cycles: Void = pollService.abort()
        async let deliveries: Void = dispatcher.abort()
        async let acknowledgements: Void = acknowledger.abort()
        async let digests: Void? = digests?.abort()
        _ = await (cycles, deliveries, acknowledgements, digests)
        await account.api.leave()
    }

    /// The store's present state, with the streams of the active identity.
    ///
    /// - Throws: ``StoreError/busy`` also if the store does not respond in time.
    func snapshot() async throws(StoreError) -> StoreSnapshot {
        guard await process.storeAnswersInTime() else { throw .busy }
        return try await process.store.status.snapshot(try await streams())
    }

    func streams() async throws(StoreError) -> [StreamKey] {
        guard let did = try await account.identity.current().identity.did else { return [] }
        return polls.map { account.stream(of: $0, for: did) }
    }
}
