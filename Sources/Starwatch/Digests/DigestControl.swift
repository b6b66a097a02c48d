import StarwatchCore
import StarwatchStore

/// The digests, as an operator lists, fetches and shows them, whatever their times.
struct DigestControl: Sendable {
    /// `nil` if no digests are configured.
    let service: DigestService?
    let identity: IdentityContext
    let store: Store
    let time: any TimeSource
    let dispatcher: DispatchService

    func list() async throws -> DigestListing {
        let now = time.now
        let account = try await identity.stored().did
        let rows = try await rows(of: account, since: now - .days(1)) ?? []
        var reports: [DigestReport] = []
        let wanted = service?.wanted(by: try await identity.current())
        for digest in service?.digests ?? [] {
            var content: StoredContent?
            if let account { content = try await store.digests.content(source: digest.source, account: account) }
            let isWanted = wanted?.contains(digest.name) ?? false
            reports.append(DigestReport(digest, isWanted: isWanted, rows: rows, content: content, now: now))
        }
        return DigestListing(digests: reports)
    }

    /// The digests for ``AgentStatus``. Without digests, the database is not read. Those of many accounts have no common results.
    func status(of account: DID?, isSignedOut: Bool) async throws(StoreError) -> [String: AgentStatus.Digest] {
        guard let digests = service?.digests else { return [:] }
        let now = time.now
        let rows = try await rows(of: account, since: now - .days(2))
        var found: [String: AgentStatus.Digest] = [:]
        for digest in digests {
            let plan = digest.plan
            var entry = AgentStatus.Digest(timezone: digest.options.timezone ?? plan.zone.identifier)
            if !isSignedOut {
                // The longest day has 25 hours.
                let coming = plan.occurrences(after: now, through: now + .days(2))
                entry.nextRun = coming.map(\.fireAt).min()?.iso8601
            }
            if let rows {
                let came = rows.filter { row in
                    let occurrence = row.row.occurrence
                    return occurrence.digest == digest.name && occurrence.isPlanned && occurrence.fireAt <= now
                }
                let last = came.max { $0.row.occurrence.fireAt < $1.row.occurrence.fireAt }
                entry.lastRun = last?.row.occurrence.fireAt.iso8601
                entry.lastStatus = last?.row.status
                entry.lastErrorCode = last?.code
            }
            found[digest.name.rawValue] = entry
        }
        return found
    }

    func fetch(_ name: String) async throws -> DigestFetchReport {
        let (service, digest) = try named(name)
        let account = try await identity.signedIn()
        let outcome = try await service.fetchNow(digest)
        let content = try await store.digests.content(source: digest.source, account: account)
        guard let outcome else {
            throw ControlError(.failed, "The content could not be stored; the log has the reason.")
        }
        return DigestFetchReport(digest: name, outcome: outcome, contentAt: content?.validatedAt.iso8601)
    }

    func show(_ name: String) async throws -> DigestShowReport {
        let (service, digest) = try named(name)
        let account = try await identity.signedIn()
        let (id, text) = try await service.showNow(digest)
        _ = await dispatcher.pass()
        return DigestShowReport(
            digest: name,
            notificationID: id,
            text: text.kind.rawValue,
            contentAt: text.contentAt?.iso8601,
            state: try await store.notifications.find(id, of: account)?.state.rawValue
                ?? StoredNotification.State.cancelled.rawValue
        )
    }

    private func rows(of account: DID?, since time: Timestamp) async throws(StoreError) -> [DigestState.Row]? {
        guard let account else { return nil }
        return try await store.digests.state(of: account, since: time).rows
    }

    private func named(_ name: String) throws(ControlError) -> (DigestService, Digest) {
        guard let service,
            let digest = service.digests.first(where: { $0.name.rawValue == name })
        else { throw ControlError(.notFound, "There is no digest of that name; starwatch digests lists them.") }
        return (service, digest)
    }
}

extension DigestReport {
    fileprivate init(
        _ digest: Digest,
        isWanted: Bool,
        rows: [DigestState.Row],
        content: StoredContent?,
        now: Timestamp
    ) {
        let plan = digest.plan
        name = digest.name.rawValue
        timezone = digest.options.timezone ?? plan.zone.identifier
        mode = digest.options.mode.rawValue
        contentAt = content?.validatedAt.iso8601
        let own = rows.filter { $0.row.occurrence.digest == digest.name }
        let stored = Set(own.map(\.row.occurrence))
        var found = own.map { row in
            (
                row.row.occurrence,
                Occurrence(
                    slot: row.row.occurrence.slot,
                    fireAt: row.row.occurrence.fireAt.iso8601,
                    status: row.row.status.rawValue,
                    text: row.row.arming?.text.kind.rawValue,
                    fetch: row.row.prefetch.rawValue,
                    errorCode: row.code?.rawValue
                )
            )
        }
        for occurrence in plan.occurrences(after: now, through: now + DigestDecision.horizon)
        where isWanted && !stored.contains(occurrence) {
            found.append(
                (
                    occurrence,
                    Occurrence(
                        slot: occurrence.slot,
                        fireAt: occurrence.fireAt.iso8601,
                        status: "planned",
                        fetch: DigestRow.Prefetch.none.rawValue
                    )
                )
            )
        }
        occurrences = found.sorted { ($0.0.fireAt, $0.0.slot) < ($1.0.fireAt, $1.0.slot) }.map(\.1)
    }
}
