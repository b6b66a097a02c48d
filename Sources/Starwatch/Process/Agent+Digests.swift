import Foundation
import Logging
import ServiceLifecycle
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

extension Agent {
    /// What works for digests: stopped before the dispatcher is, and those that tell of it after.
    var digestServices: (digests: [any Service], callbacks: [any Service]) {
        (digestParts.digests.map { [$0] } ?? [], digestParts.callbacks.map { [$0] } ?? [])
    }

    /// The digests for ``AgentStatus``; without any, the database is not asked.
    func digestStatus(of account: DID?) async throws(StoreError) -> [String: AgentStatus.Digest] {
        guard let digests = digestParts.digests?.digests else { return [:] }
        let now = time.now
        let rows = try await account.asyncMap { did throws(StoreError) in
            try await store.digestState(of: did, since: now - .days(2)).rows
        }
        var found: [String: AgentStatus.Digest] = [:]
        for digest in digests {
            let plan = digest.plan
            var entry = AgentStatus.Digest(timezone: digest.options.timezone ?? plan.zone.identifier)
            if let rows {
                // The longest day has 25 hours.
                let coming = plan.occurrences(after: now, through: now + .days(2))
                entry.nextRun = coming.map(\.fireAt).min()?.iso8601
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

    package func digests() async throws(ControlError) -> [DigestReport] {
        try await counted(.digestsList) { () async throws(ControlError) in
            do throws(StoreError) {
                let now = time.now
                let account = try await store.activeIdentity().did
                var reports: [DigestReport] = []
                let rows = try await account.asyncMap { did throws(StoreError) in
                    try await store.digestState(of: did, since: now - .days(1)).rows
                }
                for digest in digestParts.digests?.digests ?? [] {
                    let content = try await account.asyncMap { did throws(StoreError) in
                        try await store.digestContent(source: digest.source, account: did)
                    }
                    reports.append(
                        DigestReport(digest, rows: rows ?? [], content: content ?? nil, now: now)
                    )
                }
                return reports
            } catch { throw ControlError(error) }
        }
    }
}

extension Optional where Wrapped: Sendable {
    fileprivate func asyncMap<T: Sendable>(
        _ body: (Wrapped) async throws(StoreError) -> T
    ) async throws(StoreError) -> T? {
        guard let self else { return nil }
        return try await body(self)
    }
}

/// The services of an agent that has digests or callbacks; of one without, nothing of them runs.
struct DigestParts {
    let digests: DigestService?
    let callbacks: CallbackService?

    init(
        _ options: AgentOptions,
        _ made: AgentParts,
        store: Store,
        identity: IdentityContext,
        sinks: [SinkSlot],
        pseudonym: IdentityHash,
        clock: ServerClock,
        time: any TimeSource,
        metrics: AgentMetrics,
        hasStored: Signal,
        hasEvents: Signal,
        wake: Signal,
        account: DID?,
        instance: String,
        gates: Gates,
        polls: PollContent,
        logger: Logger
    ) async throws(AgentError) {
        let writer = CallbackWriter(options: options.callbacks, pseudonym: pseudonym)
        do throws(StoreError) {
            // What is armed of digests that are gone must not come.
            try await store.retainDigests(Set(made.digests.map(\.name)))
            // Nor may callbacks that are gone be told, should they come back, of what was long ago.
            try await store.retainEvents(CallbackKind.allCases.filter { options.callbacks.receiver(of: $0) != nil })
            let json = DigestConfiguration.json(options.digests)
            let now = time.now
            let event = writer.draft(.configUpdated, account: account, config: json, now: now)
            let dropped = try await store.storeDigestConfiguration(json, telling: event, now: now)
            if let event, let dropped {
                metrics.digests.noteQueued([event], dropped: dropped, logger)
            }
        } catch {
            throw AgentError(.failed, error.description)
        }
        digests =
            made.digests.isEmpty
            ? nil
            : DigestService(
                digests: made.digests.map { $0.placed(for: instance) },
                sinks: sinks,
                store: store,
                identity: identity,
                server: made.url.origin,
                locale: options.delivery.locale,
                fetcher: DigestFetcher(http: made.http, time: time, gates: gates, polls: polls),
                writer: writer,
                clock: clock,
                time: time,
                metrics: metrics,
                hasStored: hasStored,
                hasEvents: hasEvents,
                wake: wake,
                logger: logger
            )
        callbacks =
            made.callbacks.isEmpty
            ? nil
            : CallbackService(
                receivers: made.callbacks,
                options: options.callbacks,
                writer: writer,
                store: store,
                identity: identity,
                time: time,
                metrics: metrics,
                hasEvents: hasEvents,
                logger: logger
            )
    }
}

/// The configuration of the digests as it is stored, and told to callbacks.
enum DigestConfiguration {
    private struct Entry: Encodable {
        let name: String
        let times: [String]
        let timezone: String?
        let host: String?
        let method: String?
        let fetcher: String?
        let poll: String?
        let window_seconds: Double
        let lead_seconds: Double
        let ttl_seconds: Double
        let mode: String
        let on_missing: String
        let on_empty: String
        let sinks: [String]?
    }

    /// JSON without texts, headers, bodies, files, or what follows the host of a URL (C-236).
    static func json(_ digests: [DigestOptions]) -> String {
        let entries = digests.map { digest in
            Entry(
                name: digest.name.rawValue,
                times: digest.times.map(\.description),
                timezone: digest.timezone,
                host: digest.content.fetch.flatMap { URLComponents(string: $0.url)?.host },
                method: digest.content.fetch?.method.rawValue,
                fetcher: digest.content.fetcherName,
                poll: digest.content.pollName?.rawValue,
                window_seconds: digest.window.inSeconds,
                lead_seconds: digest.lead.inSeconds,
                ttl_seconds: digest.longestAge.inSeconds,
                mode: digest.mode.rawValue,
                on_missing: digest.onMissing.rawValue,
                on_empty: digest.onEmpty.rawValue,
                sinks: digest.sinks
            )
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings and numbers always encode.
        return (try? encoder.encode(entries)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }
}
