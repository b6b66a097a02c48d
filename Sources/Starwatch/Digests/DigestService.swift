import Logging
package import StarwatchCore
package import StarwatchPolling
package import StarwatchStore
import StarwatchTelemetry
import Synchronization

/// Arms digests a day ahead, has their content fetched shortly before their time, and hands them to the dispatcher at
/// their time. It fetches nothing at that time.
package final class DigestService: Worker {
    /// The results of one pass.
    package struct Pass: WorkerPass, Hashable {
        /// The single fetch of an occurrence, or a content-only fetch. It is already marked as started, so no other
        /// pass makes it.
        package struct Fetch: Sendable, Hashable {
            package let digest: DigestName
            package let occurrence: DigestOccurrence?
            package let account: DID
            package let generation: Int
            /// Whether an operator asked for it, who wants the content of this moment.
            package var isByHand = false
        }

        package var scheduled = 0
        package var fired = 0
        package var shown = 0
        /// Occurrences not shown, for any reason.
        package var missing = 0
        package var fetches: [Fetch] = []
        package var next: Timestamp?

        package init() {}
    }

    package static let storeUser = StoreUser.digests
    package static let storeFailed = AgentEvent.digestStoreFailed
    /// The maximum lag of ``DigestState/armedThrough``.
    static let topUp = Duration.seconds(3600)

    let digests: [Digest]
    let sinks: [SinkSlot]
    let fetcher: DigestFetcher
    let writer: CallbackWriter
    let locale: String
    package let account: Account
    package let passes = PassRunner()
    private let loggedVariables = Mutex<Set<String>>([])
    private let warmed = Mutex<(generation: Int, sources: Set<String>)>((0, []))

    package init(
        digests: [Digest],
        sinks: [SinkSlot],
        fetcher: DigestFetcher,
        writer: CallbackWriter,
        locale: String,
        account: Account
    ) {
        (self.digests, self.sinks, self.fetcher, self.writer) = (digests, sinks, fetcher, writer)
        (self.locale, self.account) = (locale, account)
    }

    package var now: Timestamp { time.now }

    /// Makes a pass, and starts the fetches that it announces. ``abort()`` ends them.
    ///
    /// For one of many accounts it waits for them, because the visit ends with its turns. An account that rests is looked at
    /// again before its digests are no longer armed a day ahead.
    package func turn() async -> Timestamp? {
        let pass = await pass()
        let fetches = pass.fetches.compactMap { Task.isCancelled ? nil : start($0) }
        guard account.identity.served != nil else { return local(pass.next) }
        for fetch in fetches { _ = await fetch.value() }
        let names = Set(pass.fetches.map(\.digest))
        await fetcher.polls?.finish(digests.filter { names.contains($0.name) }.compactMap(\.options.content.pollName))
        let look = time.now + Self.topUp
        return min(local(pass.next) ?? look, look)
    }

    /// Cancels the work in flight because the identity changed, and returns when it has ended.
    package func abort() async {
        await passes.abort()
        wakes.digests.raise()
    }

    /// The digests but those of polls that are switched off, by the configuration or by the account's preferences.
    func wanted(by identity: IdentityContext.Snapshot) -> Set<DigestName> {
        let off = Set((fetcher.polls?.polls ?? []).filter { identity.isOff($0.options) }.map(\.name))
        return Set(digests.filter { digest in digest.options.content.pollName.map(off.contains) != true }.map(\.name))
    }

    /// The sinks that an account's digests can go to.
    func sinkNames(of account: DID) async throws(StoreError) -> [String] {
        try await SinkReceiver.all(sinks, of: account, in: store).filter { !$0.isDisabled }.map(\.name)
    }

    /// Arms, fires and ends occurrences, and returns the fetches to make.
    package func work(_ result: inout Pass) async throws(StoreError) {
        guard var pass = try await DigestPass(self) else { return }
        defer { result = pass.result }
        try await pass.withdrawOld()
        try await pass.readContents()
        let decision = pass.decide()
        guard try await pass.store(decision) else { return }
        pass.planFetches(decision)
    }

    /// Stores changes. Returns the number of dropped events, or `nil` if the identity has changed.
    func apply(_ changes: DigestChanges, of account: DID, generation: Int) async throws(StoreError) -> Int? {
        let dropped = try await store.digests.apply(
            changes,
            of: account,
            generation: generation,
            server: self.account.server,
            now: clock.now
        )
        // Cached identity data is read again.
        if dropped == nil { self.account.identity.invalidate() }
        return dropped
    }

    /// Logs, once each, the template names that the content does not have.
    func logUnknown(of maker: DigestChangeMaker) {
        for (digest, variable) in maker.unknown
        where loggedVariables.withLock({ $0.insert("\(digest) \(variable)").inserted }) {
            logger.log(.digestVariable, [.digest: "\(digest)", .path: "\(variable)"])
        }
    }

    /// Returns whether this is the first question about a source since the start or the last change of identity.
    func isFirst(_ source: String, generation: Int) -> Bool {
        warmed.withLock { warmed in
            if warmed.generation != generation { warmed = (generation, []) }
            return warmed.sources.insert(source).inserted
        }
    }
}

/// Manual actions, independent of a digest's times.
extension DigestService {
    private static let otherIdentity = ControlError(
        .conflict,
        "The identity changed meanwhile, so nothing was shown; try again."
    )

    /// Fetches a digest's content outside its occurrences, then renders the armed texts again.
    ///
    /// - Returns: The outcome; `nil` if nobody is signed in.
    func fetchNow(_ digest: Digest) async throws(StoreError) -> DigestPrefetchOutcome? {
        let active = try await account.identity.current().identity
        guard let did = active.did else { return nil }
        return await fetch(
            Pass.Fetch(
                digest: digest.name,
                occurrence: nil,
                account: did,
                generation: active.generation,
                isByHand: true
            )
        )
    }

    /// Hands a digest's stored content to its sinks, under a new id. Armed texts stay as they are.
    ///
    /// - Throws: ``ControlError`` if nothing was shown.
    func showNow(_ digest: Digest) async throws -> (id: String, text: DigestText) {
        let shown = await passes.run { () -> Result<(id: String, text: DigestText), any Error> in
            do { return .success(try await self.show(digest)) } catch { return .failure(error) }
        }
        // Cancelled because the identity changed.
        guard let shown else { throw Self.otherIdentity }
        return try shown.get()
    }

    private func show(_ digest: Digest) async throws -> (id: String, text: DigestText) {
        let active = try await account.identity.current().identity
        guard let did = active.did else { throw Self.otherIdentity }
        let noSink = ControlError(.conflict, "Every sink of the digest is off; see starwatch status.")
        let names = try await sinkNames(of: did).filter { digest.options.sinks?.contains($0) ?? true }
        guard !names.isEmpty else { throw noSink }
        let now = time.now
        let state = try await store.digests.state(of: did, since: now - .seconds(1))
        let content = try await store.digests.content(source: digest.source, account: did)
        // Each manual showing needs a unique time, which identifies it.
        var moment = now
        let taken = Set(state.rows.map(\.row.occurrence))
        while taken.contains(DigestOccurrence(askedFor: digest.name, at: moment)) { moment = moment + .milliseconds(1) }
        let plan = digest.plan
        let decision = DigestDecision.show(
            plan,
            contentAt: content?.validatedAt,
            isEmpty: content?.isEmpty ?? false,
            at: moment
        )
        guard let text = decision.fired.first?.text else {
            throw ControlError(.conflict, "The digest's content is empty, and its on_empty is skip.")
        }
        var maker = DigestChangeMaker(
            state: state,
            contents: content.map { [digest.name: $0] } ?? [:],
            digests: [digest],
            plans: [plan],
            now: now
        )
        maker.locale = locale
        maker.make(decision, sinks: names)
        guard let id = maker.changes.armed.first?.token else { throw noSink }
        guard try await apply(maker.changes, of: did, generation: active.generation) != nil else {
            throw Self.otherIdentity
        }
        logUnknown(of: maker)
        wakes.dispatch.raise()
        return (id, text)
    }
}
