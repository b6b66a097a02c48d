import StarwatchCore

/// What the run knows of the agent's state, to tell what must have been delivered.
struct Truth: Sendable {
    /// The identity's generation: with another one everything starts afresh.
    var generation = -1
    var account: DID?
    /// Since when each plan has been starred, without a pause; the time of the simulation.
    var stars: [String: Int64] = [:]
    /// When each poll was first seen bootstrapped.
    var bootstrapped: [PollName: Int64] = [:]
    var watermarks: [PollName: JWTID] = [:]
    /// Rows the operator gave up.
    var discarded: Set<String> = []
    /// Dead rows the operator had tried again.
    var retried: Set<String> = []

    /// Whether a change must have been announced by now, if the server still shows it.
    func mustHave(_ row: FeedRow, in poll: PollName, bootstrap isFromBeginning: Bool) -> Bool {
        guard account != nil, let since = bootstrapped[poll] else { return false }
        if poll == Settings.starred {
            guard let starred = stars[row.plan], row.createdAt > starred else { return false }
        } else if row.plan != SimulatedServer.offerPlan {
            return false
        }
        return isFromBeginning || row.createdAt > since
    }
}
