import FoundationEssentials
import StarwatchCore
package import StarwatchStore

/// What digests of polls are made of: one more cycle of the poll, and what is stored of its changes (R-DUAL-06).
package struct PollContent: Sendable {
    /// What came of asking.
    enum Found: Sendable {
        /// And the last row that there was.
        case changes(Changes, through: Int64)
        case failure(DigestPrefetchOutcome)
    }

    /// The content of a digest.
    struct Changes: Sendable, Encodable {
        /// The most projects that ``names`` has.
        static let namedProjects = 5

        /// How many changes there are.
        let count: Int
        /// How many projects they are of.
        let projects: Int
        /// The projects that changed last, with an ellipsis when there are more, or some without a name.
        let names: String

        var isEmpty: Bool { count == 0 }

        init(_ found: [FoundChange], hostNames: [String: String]) {
            var seen: Set<String> = []
            let latest = found.filter { seen.insert($0.plan).inserted }
            count = found.count
            projects = latest.count
            let known = latest.compactMap { hostNames[$0.plan] ?? $0.name }.prefix(Self.namedProjects)
            names = known.joined(separator: ", ") + (known.count < latest.count ? " …" : "")
        }

        var json: String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            // Numbers and a string always encode.
            return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
        }
    }

    private let polls: [Poll]
    private let service: PollService
    private let store: Store
    private let server: String
    private let environment: Environment
    private let names: [String: String]

    /// - Parameter names: What the host calls its projects, by handle.
    package init(
        polls: [Poll],
        service: PollService,
        store: Store,
        server: String,
        environment: Environment,
        names: [String: String]
    ) {
        self.polls = polls
        self.service = service
        self.store = store
        self.server = server
        self.environment = environment
        self.names = names
    }

    /// Runs the poll once, or waits for the cycle that is under way, and lists what was found since.
    ///
    /// - Parameters:
    ///   - row: The last one that is not to be listed; `nil`: those go by `since`.
    ///   - since: By this machine's clock.
    func find(_ name: PollName, of account: DID, after row: Int64?, since: Timestamp) async -> Found {
        guard let poll = polls.first(where: { $0.name == name }) else { return .failure(.unreachable) }
        switch await service.refresh(poll).outcome {
        case .changed, .unchanged, .bootstrapped: break
        case .failed, .deferred: return .failure(Task.isCancelled ? .cancelled : .unreachable)
        // Skipped: no plans, no token, no room, or nobody to ask for.
        case nil: return .failure(Task.isCancelled ? .cancelled : .refused)
        }
        let stream = StreamKey(account: account, server: server, poll: name)
        do throws(StoreError) {
            // Rows have the time of the server's clock.
            let since = since + (environment.clock.now - environment.time.now)
            let (changes, last) = try await store.changesFound(in: stream, after: row, since: since)
            return .changes(Changes(changes, hostNames: names), through: last)
        } catch {
            return .failure(.unreachable)
        }
    }
}
