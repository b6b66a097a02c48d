/// What cursors, watermarks, rows and ledgers belong to: one poll of one account on one server.
public struct StreamKey: Sendable, Hashable {
    public let account: DID
    /// Scheme, host and port of the server, lower case, without a path: `https://api.endorser.ch`.
    public let server: String
    public let poll: PollName

    public init(account: DID, server: String, poll: PollName) {
        self.account = account
        self.server = server
        self.poll = poll
    }
}
