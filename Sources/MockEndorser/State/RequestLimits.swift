import Foundation

/// Each requester's use of the server's limits.
struct RequestLimits: Sendable {
    /// Replay window: the time in which a token cannot acknowledge twice (R-REQ-09), in seconds.
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
