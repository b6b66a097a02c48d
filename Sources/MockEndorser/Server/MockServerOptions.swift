public import Foundation

/// Which server the mock plays.
public enum MockDialect: String, Sendable, CaseIterable {
    /// The server that the requirements describe: ascending pages, acknowledgements, a time endpoint.
    case canonical
    /// The server that runs at api.endorser.ch: descending pages of 50, ULIDs, no acknowledgements.
    case endorser
}

/// Which tokens the mock wants.
public enum MockAuth: Sendable, Equatable {
    /// None. A token that comes is read, not verified; the endorser dialect hides DIDs from requests without one.
    case none
    /// HS256 under this secret. In the endorser dialect the same as ``didKey``.
    case sharedSecret([UInt8])
    /// ES256K by the `did:ethr` that issues the token.
    case didKey
}

/// The unit of `X-Server-Time`.
public enum MockServerTimeUnit: String, Sendable, CaseIterable {
    case seconds
    case milliseconds
}

/// How a ``MockServer`` behaves.
public struct MockServerOptions: Sendable {
    /// The port on 127.0.0.1; 0 takes a free one, which a later start takes again.
    public var port = 0
    public var dialect = MockDialect.canonical
    public var auth = MockAuth.none
    /// The number of generated plans in the catalogue.
    public var planCount = 20
    /// The number of changes published before the server starts.
    public var initialChanges = 0
    /// Over how long before the start these changes are spread, evenly; zero publishes all of them now.
    public var initialChangesOver = Duration.zero
    /// The generator's seed: with the same clock, the same seed gives the same answers.
    public var seed: UInt64 = 1
    /// The share of requests that get a random fault where none is scripted, 0 to 1. Faults are of every kind.
    public var faultRate = 0.0
    /// The seed of the random faults.
    public var faultSeed: UInt64 = 1
    /// How long every answer takes.
    public var latency = Duration.zero
    /// How far the mock's clock is ahead of ``now``.
    public var clockSkew = Duration.zero
    /// Requests in any minute for each DID; `nil` is no limit. Canonical dialect only: the real server has none.
    public var requestsPerMinute: Int? = 100
    /// Acknowledged ids in any minute for each DID; `nil` is no limit.
    public var acknowledgementsPerMinute: Int? = 1000
    /// Whether a token's `jti` may acknowledge only once in five minutes (R-REQ-08). Needs an ``auth`` other than none.
    public var acknowledgementTokensAreSingleUse = true
    /// Whether `afterId` includes the row it names, one of the two readings of the canonical contract (C-013).
    public var isAfterIDInclusive = false
    public var serverTimeUnit = MockServerTimeUnit.milliseconds
    /// Who owns every second generated plan and receives generated offers; `nil` is a fixed DID of the dialect's kind.
    public var ownerDID: String?
    /// The secret of the webhook receiver's signatures; `nil` verifies none.
    public var hookSecret: [UInt8]?
    /// How many requests are kept for ``MockServer/requests(matching:)``; the oldest go first.
    public var recordedRequests = 10_000
    public var eventLoopThreads = 1
    /// The clock, without skew.
    public var now: @Sendable () -> Date = { Date() }

    public init() {}

    var effectiveOwnerDID: String {
        ownerDID
            ?? (dialect == .endorser
                ? "did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74"
                : "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK")
    }

    /// The longest request body, in bytes: R-EP-14 for the canonical dialect, Express's 40 kB for the other.
    var bodyLimitBytes: Int { dialect == .canonical ? 1_048_576 : 40_960 }
}
