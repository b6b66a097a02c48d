public import StarwatchCore
import StarwatchStore

/// Manual actions of a user or host program on a digest, independent of its times.
extension Agent {
    /// Fetches a digest's content now, with one request of at most 12 s, then renders the armed texts again.
    ///
    /// - Returns: `true` if the content is new; `false` if its source reports no change.
    /// - Throws: ``AgentError`` of kind `failed` if the fetch fails or the digest does not exist.
    @discardableResult
    public func fetchNow(_ digest: DigestName) async throws(AgentError) -> Bool {
        let report: DigestFetchReport
        do throws(ControlError) { report = try await fetchDigest(digest.rawValue) } catch {
            throw AgentError(.failed, error.message)
        }
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
        do throws(ControlError) { return try await showDigest(digest.rawValue).notificationID } catch {
            throw AgentError(.failed, error.message)
        }
    }

    package func fetchDigest(_ name: String) async throws(ControlError) -> DigestFetchReport {
        try await counted(.digestsFetch) {
            let (service, digest) = try digest(name)
            let account = try await signedIn()
            let outcome = try await service.fetchNow(digest)
            let content = try await store.digestContent(source: digest.source, account: account)
            guard let outcome else {
                throw ControlError(.failed, "The content could not be stored; the log has the reason.")
            }
            return DigestFetchReport(digest: name, outcome: outcome, contentAt: content?.validatedAt.iso8601)
        }
    }

    package func showDigest(_ name: String) async throws(ControlError) -> DigestShowReport {
        try await counted(.digestsShow) {
            let (service, digest) = try digest(name)
            _ = try await signedIn()
            switch try await service.showNow(digest) {
            case .otherIdentity:
                throw ControlError(.conflict, "The identity changed meanwhile, so nothing was shown; try again.")
            case .noSink:
                throw ControlError(.conflict, "Every sink of the digest is off; see starwatch status.")
            case .empty:
                throw ControlError(.conflict, "The digest's content is empty, and its on_empty is skip.")
            case .fired(let id, let text):
                _ = await runtime.dispatcher.pass()
                return DigestShowReport(
                    digest: name,
                    notificationID: id,
                    text: text.kind.rawValue,
                    contentAt: text.contentAt?.iso8601,
                    state: try await store.notification(id)?.state.rawValue
                        ?? StoredNotification.State.cancelled.rawValue
                )
            }
        }
    }

    private func digest(_ name: String) throws(ControlError) -> (DigestService, Digest) {
        guard let service = runtime.digests,
            let digest = service.digests.first(where: { $0.name.rawValue == name })
        else { throw ControlError(.notFound, "There is no digest of that name; starwatch digests lists them.") }
        return (service, digest)
    }
}
