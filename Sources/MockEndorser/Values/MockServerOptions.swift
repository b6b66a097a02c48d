public import Foundation

/// The server that the mock imitates.
public enum MockDialect: String, Sendable, CaseIterable {
    /// The server of the requirements: ascending pages, acknowledgements, a time endpoint.
    case canonical
    /// The server at api.endorser.ch: descending pages of 50, ULIDs, no acknowledgements.
    case endorser
}

/// The tokens that the mock requires.
public enum MockAuth: Sendable, Equatable {
    /// No token. A token is read but not verified. The endorser dialect hides DIDs from requests without one.
    case none
    /// HS256 with this secret. The endorser dialect treats it like ``didKey``.
    case sharedSecret([UInt8])
    /// ES256K by the token's issuer, a `did:ethr`.
    case didKey
}

/// The settings of the content generator.
public struct MockGenerator: Sendable {
    /// The seed. With the same clock and requests, the same seed gives the same responses.
    public var seed: UInt64 = 1
    /// The owner of every second plan and the recipient of offers; `nil` for a fixed DID of the dialect's method.
    public var ownerDID: String?
}

/// The changes published before the start.
public struct MockHistory: Sendable {
    /// Number of changes.
    public var changes = 0
    /// Period before the start over which the changes are spread evenly; zero publishes all at the start.
    public var span = Duration.zero
}

/// The settings of random faults, which requests without a scripted fault receive.
public struct MockRandomFaults: Sendable {
    /// Share of requests with a random fault of any kind, 0 to 1.
    public var rate = 0.0
    /// The seed of the random choice.
    public var seed: UInt64 = 1
}

/// The behaviour of a ``MockServer``.
public struct MockServerOptions: Sendable {
    /// The port on 127.0.0.1; 0 selects a free port, which later starts use again.
    public var port = 0
    public var dialect = MockDialect.canonical
    public var auth = MockAuth.none
    /// Number of generated plans in the catalogue.
    public var planCount = 20
    public var generator = MockGenerator()
    /// The person who makes the changes that do not name one; `nil` for a fixed DID of the dialect's method. It is
    /// nobody's account by default, because an account's own changes are no news to it.
    public var authorDID: String?
    /// Whether a new version of a plan replaces its row; `nil` for the dialect's own way, which is so in the endorser
    /// dialect.
    public var keepsOneRowPerPlan: Bool?
    public var history = MockHistory()
    public var randomFaults = MockRandomFaults()
    /// Delay of every response.
    public var latency = Duration.zero
    /// Lead of the mock's clock over ``now``.
    public var clockSkew = Duration.zero
    /// Lead of the clock in its headers over the mock's own, by which it checks tokens: that of a proxy before it.
    public var headerSkew = Duration.zero
    /// Limit of requests per minute and DID; `nil` for no limit. Only in the canonical dialect: the real server has no
    /// limit.
    public var requestsPerMinute: Int? = 100
    /// Limit of acknowledged identifiers per minute and DID; `nil` for no limit.
    public var acknowledgementsPerMinute: Int? = 1000
    /// Whether a page includes the row that `afterId` names. The canonical contract permits both readings.
    public var isAfterIDInclusive = false
    /// The secret of the webhook receiver's signatures; `nil` verifies none.
    public var hookSecret: [UInt8]?
    /// Number of requests kept for ``MockServer/requests(matching:)``. The oldest are removed first.
    public var recordedRequests = 10_000
    /// Lists of other APIs, each at its path. Empty by default.
    public var lists: [MockList] = []
    /// The clock, without skew.
    public var now: @Sendable () -> Date = { Date() }

    public init() {}

    var effectiveOwnerDID: String {
        generator.ownerDID
            ?? (dialect == .endorser
                ? "did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74"
                : "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK")
    }

    var effectiveAuthorDID: String {
        authorDID
            ?? (dialect == .endorser
                ? "did:ethr:0x2B5AD5c4795c026514f8317c7a215E218DcCD6cF"
                : "did:key:z6MkjchhfUsD6mmvni8mCdXHw216Xrm9bQe2mBH1P5RDjVJG")
    }

    /// Size limit of request bodies: 1 MiB in the canonical dialect, Express's 40 KiB in the other.
    var bodyLimitBytes: Int { dialect == .canonical ? 1_048_576 : 40_960 }
}
