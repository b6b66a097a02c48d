/// The bounds of answers that many accounts of a server share, for one poll.
///
/// Accounts are visited at different times, so an answer serves the visits of a short time. It asks further back than any of
/// them needs, and each account takes its own part of it.
package struct SharedTerms: Sendable, Hashable {
    /// The largest number of portions, which bounds the memory and the requests.
    package static let mostPortions = 20
    /// The time for which a failure of the server holds for all accounts. Shorter than the shortest wait before a retry, so that
    /// each retry asks again.
    package static let failureLife = Duration.seconds(10)
    /// The part of a poll's interval for which an answer can be used.
    private static let parts = 5
    private static let longestLife = Duration.seconds(300)
    /// The delay of a visit that costs it no request of its own.
    private static let delay = Duration.seconds(120)

    /// The greatest age of an answer: a fifth of the poll's interval, at most 5 minutes. A change is then announced at most a
    /// fifth of the interval later than without sharing, and a round takes at most five or six requests for each portion.
    package let life: Duration
    /// The number of answers that a round takes for each portion.
    package let answers: Int
    /// The range of an answer before the time of its request, if no account needs more.
    private let usual: Duration
    /// The longest range. An account that needs more asks alone.
    package let longest: Duration

    /// - Parameters:
    ///   - interval: The time between this run of the poll and the next one.
    ///   - gap: The longest time between two runs.
    package init(interval: Duration, gap: Duration) {
        life = min(interval / Self.parts, Self.longestLife)
        answers = max(1, Int((interval.inSeconds / life.inSeconds).rounded(.up)))
        usual = interval + life + Self.delay
        longest = max(interval, gap) + life + Self.delay
    }

    /// Whether sharing takes fewer requests than asking alone: with few accounts, an answer would serve hardly anybody.
    package static func isWorthwhile(accounts: Int, portions: Int) -> Bool { accounts >= parts * portions }

    /// The exclusive lower end that an account needs: what lies below it was seen, or is not asked for.
    ///
    /// - Parameters:
    ///   - lowerEnd: ``PageWalk/lowerEnd``.
    ///   - seenUntil: ``SeenHorizon/time``, with the same stars as now.
    package static func need(lowerEnd: JWTID?, seenUntil: Timestamp, dialect: Dialect) -> JWTID {
        let seen = JWTID.floor(dialect.idKind, at: seenUntil - dialect.lateVisibility)
        guard let lowerEnd, seen.precedes(lowerEnd) == true else { return seen }
        return lowerEnd
    }

    /// The exclusive lower end of a new answer; `nil` if the account that asks for it needs too much, and must ask alone.
    ///
    /// - Parameter now: The server's time.
    package func start(for need: JWTID, now: Timestamp, dialect: Dialect) -> JWTID? {
        let since = need.timestamp
        guard since >= now - longest - dialect.lateVisibility else { return nil }
        return .floor(dialect.idKind, at: min(since, now - usual - dialect.lateVisibility))
    }
}
