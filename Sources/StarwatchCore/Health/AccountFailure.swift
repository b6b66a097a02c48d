/// Failures in a row of one of many accounts, at the poll that fails for longest.
package struct AccountFailure: Sendable, Hashable {
    package let account: DID
    package let poll: PollName
    /// Whether its changes are polled and delivered, and their acknowledgements fail.
    package let isOfAcknowledgement: Bool
    /// The reason for the last failure; `nil` if it is not stored.
    package let reason: FailureReason?
    /// The first failure since the last success, by the local clock.
    package let since: Timestamp
    /// The number of failures since then. Lists of many accounts count up to ``HealthFacts/Poll/failingAfter``.
    package var count: Int
    /// The next scheduled run, before the account's own delay; `nil` if none is known.
    package let nextRun: Timestamp?

    package init(
        account: DID,
        poll: PollName,
        reason: FailureReason?,
        since: Timestamp,
        count: Int,
        nextRun: Timestamp?,
        isOfAcknowledgement: Bool = false
    ) {
        (self.account, self.poll, self.reason) = (account, poll, reason)
        (self.since, self.count, self.nextRun) = (since, count, nextRun)
        self.isOfAcknowledgement = isOfAcknowledgement
    }

    /// Whether only a person can end it, such as a refused token.
    package var needsAction: Bool { reason?.needsAction ?? false }

    /// Whether it counts: a person must act, or it is not the first failure.
    package var counts: Bool { needsAction || count >= HealthFacts.Poll.failingAfter }

    /// The reason for people and metrics.
    package var label: FailureLabel { reason?.label ?? .other }

    /// The failure as one sentence with advice.
    package var sentence: String {
        if isOfAcknowledgement { return "Acknowledgements fail; see starwatch logs --level warn." }
        return reason?.sentence ?? "The reason is not known; see starwatch logs --level warn."
    }

    /// The one of each account that fails for longest, those of all accounts in this order.
    package static func worst(_ failures: [AccountFailure]) -> [AccountFailure] {
        var seen = Set<DID>()
        return failures.filter(\.counts).sorted {
            ($0.since, $0.account.rawValue, $0.poll.rawValue) < ($1.since, $1.account.rawValue, $1.poll.rawValue)
        }.filter { seen.insert($0.account).inserted }
    }
}

extension HealthFacts.Accounts {
    /// Takes the failing accounts.
    package mutating func take(_ failures: [AccountFailure]) {
        failing = failures.count
        failingSince = failures.map(\.since).min()
        let byReason = Dictionary(grouping: failures, by: \.label)
        // The order of the labels decides between equals.
        let commonest = FailureLabel.allCases.max { (byReason[$0]?.count ?? 0) < (byReason[$1]?.count ?? 0) }
        failure = commonest.flatMap { byReason[$0]?.lazy.compactMap(\.reason).first }
        failuresDiffer = byReason.count > 1
    }
}
