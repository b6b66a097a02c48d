import FoundationEssentials
import StarwatchCore
import StarwatchStore

/// Content of digests of polls: one more cycle of the poll, and its stored changes (R-DUAL-06).
package struct PollContent: Sendable {
    /// The result of a request for content.
    enum Found: Sendable {
        /// The changes, and the last row so far.
        case changes(Changes, through: Int64)
        case failure(DigestPrefetchOutcome)
    }

    /// The content of a digest.
    struct Changes: Sendable, Encodable {
        /// The maximum number of projects in ``names``.
        static let namedProjects = 5

        /// The number of changes.
        let count: Int
        /// The number of projects with changes.
        let projects: Int
        /// The projects that changed last, with an ellipsis if there are more or some have no name.
        let names: String

        var isEmpty: Bool { count == 0 }

        init(_ found: [FoundChange], hostNames: [String: String]) {
            var seen: Set<String> = []
            let latest = found.filter { seen.insert($0.plan).inserted }
            count = found.count
            projects = latest.count
            let known = latest.compactMap { hostNames[$0.plan] ?? $0.name }.prefix(Self.namedProjects)
            names =
                known.map { BidiText.isolated($0) }.joined(separator: ", ") + (known.count < latest.count ? " …" : "")
        }

        var json: String { StableJSON.text(of: self) }
    }

    let polls: [Poll]
    let service: PollService
    let store: Store
    let server: String
    let environment: Environment
    /// The host program's project names by handle.
    let names: [String: String]

    /// Runs the poll once, or waits for the cycle in flight, and lists the changes found since then.
    ///
    /// - Parameters:
    ///   - row: The last row not to list; `nil` selects by `since`.
    ///   - since: A time by the local clock.
    func find(_ name: PollName, of account: DID, after row: Int64?, since: Timestamp) async -> Found {
        guard let poll = polls.first(where: { $0.name == name }) else { return .failure(.unreachable) }
        switch await service.refresh(poll).outcome {
        case .changed, .unchanged, .bootstrapped: break
        case .failed, .deferred, .cancelled: return .failure(Task.isCancelled ? .cancelled : .unreachable)
        // Skipped: no plans, no token, no room, or nobody signed in.
        case nil: return .failure(Task.isCancelled ? .cancelled : .refused)
        }
        let stream = StreamKey(account: account, server: server, poll: name)
        do throws(StoreError) {
            // Rows carry the time of the server's clock.
            let since = since + (environment.clock.now - environment.time.now)
            let (changes, last) = try await store.digests.changesFound(in: stream, after: row, since: since)
            return .changes(Changes(changes, hostNames: names), through: last)
        } catch {
            return .failure(.unreachable)
        }
    }
}
