public import StarwatchCore

/// For whom, and of which server, a request is made. Taken anew for every run of a schedule.
public struct PollingContext: Sendable {
    /// The identity on whose behalf is asked; `nil`: nobody's.
    public var account: DID?
    /// Scheme, host, port and perhaps a path, which endpoints are added to.
    public var server: String
    /// Where watermarks are kept.
    public var storage: any StorageAdapter
    /// The tokens of requests. By default none.
    public var tokens: PollTokens

    public init(
        server: String,
        account: DID? = nil,
        storage: any StorageAdapter = InMemoryStorage(),
        tokens: PollTokens = .none
    ) {
        self.server = server
        self.account = account
        self.storage = storage
        self.tokens = tokens
    }
}
