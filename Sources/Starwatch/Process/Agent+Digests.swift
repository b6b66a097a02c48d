import Foundation
import Logging
import ServiceLifecycle
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

extension Agent {
    /// The digests for ``AgentStatus``. Without digests, the database is not read.
    func digestStatus(of account: DID?) async throws(StoreError) -> [String: AgentStatus.Digest] {
        guard let digests = runtime.digests?.digests else { return [:] }
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
        try await counted(.read) {
            let now = time.now
            let account = try await store.activeIdentity().did
            var reports: [DigestReport] = []
            let rows = try await account.asyncMap { did throws(StoreError) in
                try await store.digestState(of: did, since: now - .days(1)).rows
            }
            for digest in runtime.digests?.digests ?? [] {
                let content = try await account.asyncMap { did throws(StoreError) in
                    try await store.digestContent(source: digest.source, account: did)
                }
                reports.append(DigestReport(digest, rows: rows ?? [], content: content ?? nil, now: now))
            }
            return reports
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
