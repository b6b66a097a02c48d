public import StarwatchCore
import StarwatchStore

/// What a person or a host program asks of a digest, whatever its times.
extension Agent {
    /// Fetches a digest's content now, once, for at most 12 s; what is armed of it is armed anew.
    ///
    /// - Returns: Whether there is other content than before; `false`: its source says that nothing changed.
    /// - Throws: ``AgentError`` of kind `failed` when it cannot be fetched, or there is no such digest.
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

    /// Shows a digest now: the stored content while it is young enough, which says of when it is, else the fixed text.
    /// Its times are not affected.
    ///
    /// - Returns: The notification's id, its own.
    /// - Throws: ``AgentError`` of kind `failed` when nothing can be shown, or there is no such digest.
    @discardableResult
    public func showNow(_ digest: DigestName) async throws(AgentError) -> String {
        do throws(ControlError) { return try await showDigest(digest.rawValue).notificationID } catch {
            throw AgentError(.failed, error.message)
        }
    }

    package func fetchDigest(_ name: String) async throws(ControlError) -> DigestFetchReport {
        try await counted(.digestsFetch) { () async throws(ControlError) in
            let (service, digest) = try digest(name)
            let account = try await signedIn()
            let outcome: DigestPrefetchOutcome?
            let content: StoredContent?
            do throws(StoreError) {
                outcome = try await service.fetchNow(digest)
                content = try await store.digestContent(source: digest.source, account: account)
            } catch { throw ControlError(error) }
            guard let outcome else {
                throw ControlError(.failed, "The content could not be stored; the log has the reason.")
            }
            return DigestFetchReport(digest: name, outcome: outcome, contentAt: content?.validatedAt.iso8601)
        }
    }

    package func showDigest(_ name: String) async throws(ControlError) -> DigestShowReport {
        try await counted(.digestsShow) { () async throws(ControlError) in
            let (service, digest) = try digest(name)
            _ = try await signedIn()
            let showing: DigestService.Showing
            do throws(StoreError) { showing = try await service.showNow(digest) } catch { throw ControlError(error) }
            switch showing {
            case .otherIdentity:
                throw ControlError(.conflict, "The identity changed meanwhile, so nothing was shown; try again.")
            case .noSink:
                throw ControlError(.conflict, "Every sink of the digest is off; see starwatch status.")
            case .empty:
                throw ControlError(.conflict, "The digest's content is empty, and its on_empty is skip.")
            case .fired(let id, let text):
                _ = await runtime.dispatcher.pass()
                do throws(StoreError) {
                    return DigestShowReport(
                        digest: name,
                        notificationID: id,
                        text: text.kind.rawValue,
                        contentAt: text.contentAt?.iso8601,
                        state: try await store.notification(id)?.state.rawValue
                            ?? StoredNotification.State.cancelled.rawValue
                    )
                } catch { throw ControlError(error) }
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
