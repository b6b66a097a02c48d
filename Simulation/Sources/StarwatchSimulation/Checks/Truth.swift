import StarwatchCore

/// Agent state that decides which changes must have been delivered.
struct Truth: Sendable {
    /// Generation of the identity; a new one resets everything.
    var generation = -1
    /// Start of the generation, in simulation time.
    var since: Int64 = 0
    var account: DID?
    /// Start of each plan's uninterrupted star, in simulation time.
    var stars: [String: Int64] = [:]
    /// Time at which each poll was first seen bootstrapped.
    var bootstrapped: [PollName: Int64] = [:]
    var watermarks: [PollName: JWTID] = [:]
    /// Rows that the operator discarded.
    var discarded: Set<String> = []
    /// Dead rows that the operator retried.
    var retried: Set<String> = []

    /// Returns `true` if a change must have been announced by now, provided the server still shows it.
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
