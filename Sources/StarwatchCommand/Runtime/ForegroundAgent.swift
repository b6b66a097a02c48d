import Starwatch
import StarwatchCore

/// An agent that does not run: its database, opened by this process.
struct ForegroundAgent: AgentOperations {
    private let agent: Agent

    init(options: AgentOptions) async throws(CommandError) {
        do throws(AgentError) {
            agent = try await Agent(options: options)
        } catch {
            throw .agent(error)
        }
    }

    func close() async { await agent.close() }

    func runPoll(_ name: String, unlessWithin: Duration?) async throws(CommandError) -> PollReport {
        try await ask { agent throws(ControlError) in try await agent.runPoll(name, unlessWithin: unlessWithin) }
    }

    func outboxList(_ query: OutboxQuery) async throws(CommandError) -> [OutboxEntry] {
        try await ask { agent throws(ControlError) in try await agent.outboxList(query) }
    }

    func outboxShow(_ id: Int64) async throws(CommandError) -> OutboxEntry {
        try await ask { agent throws(ControlError) in try await agent.outboxShow(id) }
    }

    func outboxRetry(_ ids: [Int64]) async throws(CommandError) -> Int {
        try await ask { agent throws(ControlError) in try await agent.outboxRetry(ids) }
    }

    func outboxRetryAll(poll: String?) async throws(CommandError) -> Int {
        try await ask { agent throws(ControlError) in try await agent.outboxRetryAll(poll: poll) }
    }

    func outboxDiscard(_ ids: [Int64]) async throws(CommandError) -> Int {
        try await ask { agent throws(ControlError) in try await agent.outboxDiscard(ids) }
    }

    func outboxDiscardAll(poll: String?) async throws(CommandError) -> Int {
        try await ask { agent throws(ControlError) in try await agent.outboxDiscardAll(poll: poll) }
    }

    func identity() async throws(CommandError) -> IdentityReport {
        try await ask { agent throws(ControlError) in try await agent.identity() }
    }

    func setIdentity(_ did: DID?) async throws(CommandError) -> IdentityReport {
        try await ask { agent throws(ControlError) in try await agent.setIdentity(did) }
    }

    func removeIdentity(_ did: DID) async throws(CommandError) -> IdentityRemovalReport {
        try await ask { agent throws(ControlError) in try await agent.removeIdentity(did) }
    }

    func stars() async throws(CommandError) -> [String] {
        try await ask { agent throws(ControlError) in try await agent.stars() }
    }

    func changeStars(_ change: StarsChange) async throws(CommandError) -> [String] {
        try await ask { agent throws(ControlError) in try await agent.changeStars(change) }
    }

    func archivedStars() async throws(CommandError) -> [ArchivedStarsReport] {
        try await ask { agent throws(ControlError) in try await agent.archivedStars() }
    }

    func digests() async throws(CommandError) -> [DigestReport] {
        try await ask { agent throws(ControlError) in try await agent.digests() }
    }

    func fetchDigest(_ name: String) async throws(CommandError) -> DigestFetchReport {
        try await ask { agent throws(ControlError) in try await agent.fetchDigest(name) }
    }

    func showDigest(_ name: String) async throws(CommandError) -> DigestShowReport {
        try await ask { agent throws(ControlError) in try await agent.showDigest(name) }
    }

    func ask<Answer>(
        _ question: (Agent) async throws(ControlError) -> Answer
    ) async throws(CommandError) -> Answer {
        do throws(ControlError) {
            return try await question(agent)
        } catch {
            throw .control(error)
        }
    }
}
