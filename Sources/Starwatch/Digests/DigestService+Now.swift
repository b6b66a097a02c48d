import StarwatchCore
import StarwatchStore

/// Manual actions, independent of a digest's times.
extension DigestService {
    /// The result of showing a digest now.
    enum Showing: Sendable {
        /// The digest was handed to the sinks.
        case fired(id: String, DigestText)
        /// The content is empty, and ``EmptyContent/skip`` skips it.
        case empty
        /// All of the digest's sinks are disabled.
        case noSink
        /// Nobody is signed in, or the identity has changed.
        case otherIdentity
    }

    /// Fetches a digest's content outside its occurrences, then renders the armed texts again.
    ///
    /// - Returns: The outcome; `nil` if nobody is signed in.
    func fetchNow(_ digest: Digest) async throws(StoreError) -> DigestPrefetchOutcome? {
        let active = try await account.identity.current().identity
        guard let did = active.did else { return nil }
        return await fetch(
            Pass.Fetch(digest: digest.name, occurrence: nil, account: did, generation: active.generation)
        )
    }

    /// Hands a digest's stored content to its sinks, under a new id. Armed texts stay as they are.
    func showNow(_ digest: Digest) async throws(StoreError) -> Showing {
        let showing = await passes.run { () -> Result<Showing, StoreError> in
            do throws(StoreError) { return .success(try await self.show(digest)) } catch { return .failure(error) }
        }
        // Cancelled because the identity changed.
        return try showing?.get() ?? .otherIdentity
    }

    private func show(_ digest: Digest) async throws(StoreError) -> Showing {
        let active = try await account.identity.current().identity
        guard let did = active.did else { return .otherIdentity }
        let names = sinks.filter { !$0.isDisabled && digest.options.sinks?.contains($0.name) ?? true }.map(\.name)
        guard !names.isEmpty else { return .noSink }
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
        logUnknown(of: maker)
        wakes.dispatch.raise()
        return .fired(id: id, text)
    }
}
