import Starwatch
import StarwatchCore
import StarwatchHTTP

/// The agent behind a control socket.
struct RunningAgent: AgentOperations {
    let client: ControlClient

    init(socketPath: String) { client = ControlClient(socketPath: socketPath) }

    func status() async throws(CommandError) -> AgentStatus {
        try await ask { client throws(ControlClientError) in try await client.status() }
    }

    func runPoll(_ name: String, unlessWithin: Duration?) async throws(CommandError) -> PollReport {
        try await ask { client throws(ControlClientError) in
            try await client.runPoll(name, unlessWithin: unlessWithin)
        }
    }

    func outboxList(_ query: OutboxQuery) async throws(CommandError) -> [OutboxEntry] {
        try await ask { client throws(ControlClientError) in try await client.outboxList(query) }
    }

    func outboxShow(_ id: Int64) async throws(CommandError) -> OutboxEntry {
        try await ask { client throws(ControlClientError) in try await client.outboxShow(id) }
    }

    func outboxRetry(_ ids: [Int64]) async throws(CommandError) -> Int {
        try await ask { client throws(ControlClientError) in try await client.outboxRetry(ids) }
    }

    func outboxRetryAll(poll: String?) async throws(CommandError) -> Int {
        try await ask { client throws(ControlClientError) in try await client.outboxRetryAll(poll: poll) }
    }

    func outboxDiscard(_ ids: [Int64]) async throws(CommandError) -> Int {
        try await ask { client throws(ControlClientError) in try await client.outboxDiscard(ids) }
    }

    func outboxDiscardAll(poll: String?) async throws(CommandError) -> Int {
        try await ask { client throws(ControlClientError) in try await client.outboxDiscardAll(poll: poll) }
    }

    func identity() async throws(CommandError) -> IdentityReport {
        try await ask { client throws(ControlClientError) in try await client.identity() }
    }

    func setIdentity(_ did: DID?) async throws(CommandError) -> IdentityReport {
        try await ask { client throws(ControlClientError) in try await client.setIdentity(did) }
    }

    func removeIdentity(_ did: DID) async throws(CommandError) -> IdentityRemovalReport {
        try await ask { client throws(ControlClientError) in try await client.removeIdentity(did) }
    }

    func stars() async throws(CommandError) -> [String] {
        try await ask { client throws(ControlClientError) in try await client.stars() }
    }

    func changeStars(_ change: StarsChange) async throws(CommandError) -> [String] {
        try await ask { client throws(ControlClientError) in try await client.changeStars(change) }
    }

    func archivedStars() async throws(CommandError) -> [ArchivedStarsReport] {
        try await ask { client throws(ControlClientError) in try await client.archivedStars() }
    }

    func digests() async throws(CommandError) -> [DigestReport] {
        try await ask { client throws(ControlClientError) in try await client.digests() }
    }

    func fetchDigest(_ name: String) async throws(CommandError) -> DigestFetchReport {
        try await ask { client throws(ControlClientError) in try await client.fetchDigest(name) }
    }

    func showDigest(_ name: String) async throws(CommandError) -> DigestShowReport {
        try await ask { client throws(ControlClientError) in try await client.showDigest(name) }
    }

    func ask<Answer>(
        _ question: (ControlClient) async throws(ControlClientError) -> Answer
    ) async throws(CommandError) -> Answer {
        do throws(ControlClientError) {
            return try await question(client)
        } catch .refused(let error) {
            throw .control(error)
        } catch {
            throw .client(error)
        }
    }
}
