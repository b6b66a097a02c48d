public import StarwatchCore

/// The account and server of a request. Every run of a schedule gets a new one.
public struct PollingContext: Sendable {
    /// The identity on whose behalf the request is made; `nil` for none.
    public var account: DID?
    /// Scheme, host, port and an optional path, to which endpoints are appended.
    public var server: String
    /// The store of watermarks.
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
