/// The requests that poll all accounts once.
package struct FleetRound: Sendable, Hashable {
    /// Polls that ask the server alone.
    package let alone: Int
    /// Requests for many accounts together.
    package let shared: Int

    package var requests: Int { alone + shared }

    /// - Parameters:
    ///   - polls: The polls of all active accounts, without those that they do not want.
    ///   - sharing: The number of them that share requests.
    ///   - portions: The requests that ask for all shared plans once.
    ///   - answers: How often a round asks for each portion.
    package init(polls: Int, sharing: Int = 0, portions: Int = 0, answers: Int = 1) {
        let isShared = sharing > 0 && SharedTerms.isWorthwhile(accounts: sharing, portions: portions)
        alone = max(polls - (isShared ? sharing : 0), 0)
        // Each request is sent by the poll of one account.
        shared = isShared ? min(portions * answers, sharing) : 0
    }

    private init(alone: Int, shared: Int) { (self.alone, self.shared) = (alone, shared) }

    /// The round of the polls of both.
    package static func + (one: FleetRound, other: FleetRound) -> FleetRound {
        FleetRound(alone: one.alone + other.alone, shared: one.shared + other.shared)
    }

    /// The least time that a round takes. No account can be polled more often.
    package func duration(requestsPerSecond: Int) -> Duration {
        .milliseconds(requests * 1000 / max(requestsPerSecond, 1))
    }

    /// The duration of the round that due accounts can have to wait for.
    ///
    /// First polls ask alone, so rounds become shorter while they are made. An account that waits longer than the present round has
    /// not waited too long if the round was longer when it became due.
    ///
    /// - Parameters:
    ///   - former: What this returned before.
    ///   - wait: The time that the account has waited which is due for longest.
    package static func awaited(_ former: Duration, now round: Duration, wait: Duration) -> Duration {
        wait > round ? max(former, round) : round
    }
}
