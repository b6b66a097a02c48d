import Foundation

/// Each requester's use of the server's limits.
struct RequestLimits: Sendable {
    /// Replay window: the time in which a token cannot acknowledge twice, in seconds.
    private static let replayWindow: TimeInterval = 300

    /// Requests of the last minute, by DID.
    var requests: [String: SlidingWindow] = [:]
    /// Acknowledged identifiers of the last minute, by DID.
    var acknowledgements: [String: SlidingWindow] = [:]
    /// Tokens that acknowledged, with the time.
    private var usedTokenIDs: [String: Date] = [:]

    /// Marks a token as used; `false` if it was used within the replay window.
    mutating func use(tokenID: String, at now: Date) -> Bool {
        usedTokenIDs = usedTokenIDs.filter { $0.value.addingTimeInterval(Self.replayWindow) > now }
        return usedTokenIDs.updateValue(now, forKey: tokenID) == nil
    }
}

/// A rate limit over the last minute.
struct SlidingWindow: Sendable {
    /// Length of the window, in seconds.
    static let length: TimeInterval = 60

    private var times: [Date] = []
    private var first = 0

    /// Takes `amount` places of `limit`, all or none.
    ///
    /// - Returns: The remaining places; `nil` if there were too few.
    mutating func take(_ amount: Int = 1, of limit: Int, at now: Date) -> Int? {
        forget(before: now)
        let used = times.count - first
        guard used + amount <= limit else { return nil }
        for _ in 0..<amount { times.append(now) }
        return limit - used - amount
    }

    /// Time at which the next place becomes free; `now` for an empty window.
    func nextFree(at now: Date) -> Date {
        first < times.count ? times[first].addingTimeInterval(Self.length) : now
    }

    private mutating func forget(before now: Date) {
        while first < times.count, times[first].addingTimeInterval(Self.length) <= now { first += 1 }
        if first > 1024 {
            times.removeFirst(first)
            first = 0
        }
    }
}
