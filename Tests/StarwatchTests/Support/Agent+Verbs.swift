import StarwatchCore

@testable import Starwatch

/// The verbs that tests perform most.
extension Agent {
    @discardableResult
    func runPoll(_ name: String, unlessWithin: Duration? = nil) async throws(ControlError) -> PollReport {
        try await perform(ControlAPI.runPoll, PollRun(name, unlessWithin: unlessWithin))
    }

    @discardableResult
    func setIdentity(_ did: DID?) async throws(ControlError) -> IdentityReport {
        try await perform(ControlAPI.setIdentity, IdentityChoice(did: did?.rawValue))
    }

    @discardableResult
    func changeStars(_ change: StarsChange) async throws(ControlError) -> [String] {
        try await perform(ControlAPI.changeStars, change).planIDs
    }

    func stars() async throws(ControlError) -> [String] { try await perform(ControlAPI.listStars).planIDs }

    func reload() async throws(ControlError) { _ = try await perform(ControlAPI.reload) }

    func outboxList(_ query: OutboxQuery) async throws(ControlError) -> [OutboxEntry] {
        try await perform(ControlAPI.listOutbox, query).entries
    }

    /// The newest rows of a state, or of all.
    func outboxList(state: String?) async throws(ControlError) -> [OutboxEntry] {
        var query = OutboxQuery()
        query.state = state
        return try await outboxList(query)
    }
}
