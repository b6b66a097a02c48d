/// The key of a stream: one poll of one account on one server. Each stream has its own cursor, watermark, rows and
/// ledger.
public struct StreamKey: Sendable, Hashable {
    public let account: DID
    /// The server's origin in lower case, without a path: `https://api.endorser.ch`.
    public let server: String
    public let poll: PollName

    public init(account: DID, server: String, poll: PollName) {
        self.account = account
        self.server = server
        self.poll = poll
    }
}
