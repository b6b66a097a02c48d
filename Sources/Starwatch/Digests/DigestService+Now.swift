import StarwatchCore
import StarwatchStore

/// What somebody asks for, whatever the times of a digest.
extension DigestService {
    /// What came of showing a digest now.
    enum Showing: Sendable {
        /// The sinks are being given it.
        case fired(id: String, DigestText)
        /// Its content is empty, and ``EmptyContent/skip`` says that nothing comes then.
        case empty
        /// Every sink that it is for is off.
        case noSink
        /// Nobody is signed in, or somebody else by now.
        case otherIdentity
    }

    /// Fetches a digest's content for no occurrence in particular; what is armed is then armed anew.
    ///
    /// - Returns: How it ended; `nil` when nobody is signed in.
    func fetchNow(_ digest: Digest) async throws(StoreError) -> DigestPrefetchOutcome? {
        let active = try await identity.current().identity
        guard let did = active.did else { return nil }
        return await fetch(
            Pass.Fetch(digest: digest.name, occurrence: nil, account: did, generation: active.generation)
        )
    }

    /// Hands what there is of a digest to its sinks, under an id of its own. What is armed stays as it is.
    func showNow(_ digest: Digest) async throws(StoreError) -> Showing {
        let showing = await passes.run { () -> Result<Showing, StoreError> in
            do throws(StoreError) { return .success(try await self.show(digest)) } catch { return .failure(error) }
        }
        // Given up, because the identity changed.
        return try showing?.get() ?? .otherIdentity
    }

    private func show(_ digest: Digest) async throws(StoreError) -> Showing {
        let active = try await identity.current().identity
        guard let did = active.did else { return .otherIdentity }
        let names = sinks.filter { !$0.isDisabled && digest.options.sinks?.contains($0.name) ?? true }.map(\.name)
        guard !names.isEmpty else { return .noSink }
        let now = time.now
        let state = try await store.digestState(of: did, since: now - .seconds(1))
        let content = try await store.digestContent(source: digest.source, account: did)
        // Each has a time of its own, by which it is known.
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
        guard let text = decision.fired.first?.text else { return .empty }
        var maker = DigestChangeMaker(
            state: state,
            contents: content.map { [digest.name: $0] } ?? [:],
            digests: [digest],
            plans: [plan],
            now: now
        )
        maker.locale = tools.locale
        maker.make(decision, sinks: names)
        guard let id = maker.changes.armed.first?.token else { return .noSink }
        guard try await apply(maker.changes, of: did, generation: active.generation) != nil else {
            return .otherIdentity
        }
        noteUnknown(maker)
        wakes.dispatch.raise()
        return .fired(id: id, text)
    }
}
