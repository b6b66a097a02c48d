/// The plans that accounts star, in portions that fit into one request each.
///
/// Accounts name their plans with each poll. A plan keeps its portion until no account has named it for a while. Times are
/// those since the machine's start.
package struct SharedPlans: Sendable {
    private static let room = Dialect.allCases.map { $0.maxBodyBytes - PlanChunk.envelope }.min() ?? 0
    private static let mostPlans = Dialect.allCases.map(\.maxPlanIDs).min() ?? 0

    private var entries: [String: (portion: Int, size: Int, wantedAt: Duration)] = [:]
    /// The plans of each portion, and the bytes of their JSON array.
    private var portions: [(plans: [String], size: Int)] = []
    /// A portion before which none has room.
    private var firstWithRoom = 0

    package init() {}

    package var count: Int { portions.count }

    /// Whether no further plan has a portion.
    package var isFull: Bool { portions.count == SharedTerms.mostPortions && firstWithRoom == portions.count }

    /// Whether each of an account's plans has a portion.
    package func has(_ plans: [String]) -> Bool { plans.allSatisfy { entries[$0] != nil } }

    /// Notes that an account wants these plans. Those beyond the last portion are ignored.
    package mutating func want(_ plans: [String], at now: Duration) {
        for plan in plans {
            if (entries[plan]?.wantedAt = now) == nil { add(plan, at: now) }
        }
    }

    /// An account's plans by portion, in the order of portions; `nil` if one of them has none.
    package func parts(_ plans: [String]) -> [(portion: Int, plans: [String])]? {
        var parts: [Int: [String]] = [:]
        for plan in plans {
            guard let entry = entries[plan] else { return nil }
            parts[entry.portion, default: []].append(plan)
        }
        return parts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The plans of a portion, without those that nobody has wanted since `time`, which leave it.
    package mutating func plans(of portion: Int, wantedSince time: Duration) -> [String] {
        let plans = portions[portion].plans
        let kept = plans.filter { entries[$0].map { $0.wantedAt >= time } ?? false }
        guard kept.count < plans.count else { return plans }
        portions[portion].plans = kept
        portions[portion].size = 2 + kept.reduce(0) { $0 + (entries[$1]?.size ?? 0) }
        for plan in plans where entries[plan].map({ $0.wantedAt < time }) ?? false { entries[plan] = nil }
        firstWithRoom = min(firstWithRoom, portion)
        return kept
    }

    private mutating func add(_ plan: String, at now: Duration) {
        let size = StableJSON.bytes(of: plan).count + 1
        while firstWithRoom < portions.count, !hasRoom(firstWithRoom, for: size) { firstWithRoom += 1 }
        if firstWithRoom == portions.count {
            guard portions.count < SharedTerms.mostPortions else { return }
            portions.append((plans: [], size: 2))
        }
        entries[plan] = (firstWithRoom, size, now)
        portions[firstWithRoom].plans.append(plan)
        portions[firstWithRoom].size += size
    }

    private func hasRoom(_ portion: Int, for size: Int) -> Bool {
        let portion = portions[portion]
        return portion.plans.count < Self.mostPlans && portion.size + size <= Self.room
    }
}

/// The stars with which each account's last complete poll was made, as far as this process knows.
///
/// Only such an account can take part: a plan that it has starred since can have older changes that it has not seen. Keeps
/// hashes, which need little memory for each account.
package struct SeenStars: Sendable {
    /// The next poll of an account.
    package enum Next: Sendable, CaseIterable {
        /// It can take its part of an answer for many accounts.
        case shares
        case asksAlone
        /// Without stars it asks nothing.
        case rests
    }

    /// The time after which an account that is not polled is forgotten.
    private static let kept = Duration.seconds(8 * 86_400)

    private var entries: [Int: (stars: Int, at: Duration, next: Next)] = [:]
    private var counts: [Next: Int] = [:]
    private var prunedAt = Duration.zero

    package init() {}

    /// The number of accounts and polls that ask the server for something.
    package var count: Int { self[.shares] + self[.asksAlone] }

    /// The number of accounts and polls by what they do next.
    package subscript(next: Next) -> Int { counts[next] ?? 0 }

    /// - Parameter shares: Whether each of the stars has a portion.
    package mutating func note(_ stars: [String], of stream: StreamKey, shares: Bool, at now: Duration) {
        if now - prunedAt > Self.kept {
            entries = entries.filter { now - $0.value.at <= Self.kept }
            counts = entries.values.reduce(into: [:]) { $0[$1.next, default: 0] += 1 }
            prunedAt = now
        }
        let next = stars.isEmpty ? Next.rests : shares ? .shares : .asksAlone
        let former = entries.updateValue((stars.hashValue, now, next), forKey: stream.hashValue)
        if let former { counts[former.next, default: 0] -= 1 }
        counts[next, default: 0] += 1
    }

    package func has(_ stars: [String], of stream: StreamKey) -> Bool {
        entries[stream.hashValue]?.stars == stars.hashValue
    }
}

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
    /// The time for which accounts ask alone after the server rejected their request.
    package static let rejectionLife = Duration.seconds(2 * 3600)
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
