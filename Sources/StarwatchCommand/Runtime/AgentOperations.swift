import Starwatch
import StarwatchCore

/// What commands ask of an agent, whether it runs elsewhere or is opened here.
protocol AgentOperations: NotificationOperations {
    func runPoll(_ name: String, unlessWithin: Duration?) async throws(CommandError) -> PollReport
    func outboxList(_ query: OutboxQuery) async throws(CommandError) -> [OutboxEntry]
    func outboxShow(_ id: Int64) async throws(CommandError) -> OutboxEntry
    func outboxRetry(_ ids: [Int64]) async throws(CommandError) -> Int
    func outboxRetryAll(poll: String?) async throws(CommandError) -> Int
    func outboxDiscard(_ ids: [Int64]) async throws(CommandError) -> Int
    func outboxDiscardAll(poll: String?) async throws(CommandError) -> Int
    func identity() async throws(CommandError) -> IdentityReport
    func setIdentity(_ did: DID?) async throws(CommandError) -> IdentityReport
    func removeIdentity(_ did: DID) async throws(CommandError) -> IdentityRemovalReport
    func stars() async throws(CommandError) -> [String]
    func changeStars(_ change: StarsChange) async throws(CommandError) -> [String]
    func archivedStars() async throws(CommandError) -> [ArchivedStarsReport]
    func digests() async throws(CommandError) -> [DigestReport]
    func fetchDigest(_ name: String) async throws(CommandError) -> DigestFetchReport
    func showDigest(_ name: String) async throws(CommandError) -> DigestShowReport
}
