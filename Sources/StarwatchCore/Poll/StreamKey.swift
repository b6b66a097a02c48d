/// The key of a stream: one poll of one account on one server. Each stream has its own cursor, watermark, rows and
/// ledger.
public struct StreamKey: Sendable, Hashable {
    public let account: DID
    /// The server's origin in lower case, without a path: `https://api.endorser.ch`; ``lists`` for a list.
    public let server: String
    public let poll: PollName

    public init(account: DID, server: String, poll: PollName) {
        (self.account, self.server, self.poll) = (account, server, poll)
    }

    /// In place of a server in the streams of lists.
    package static let lists = "lists"

    /// Hashes account and poll. The server is the same for nearly all streams of a database, and a cycle hashes its stream
    /// four times.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(account)
        hasher.combine(poll)
    }
}

/// The request that brought a page.
package struct PageOrigin: Sendable, Hashable {
    /// Number of the page in its run, from 1.
    package let page: Int
    package let request: RequestTrace
    /// Time of the last attempt, by the server's clock as far as it is known.
    package let askedAt: Timestamp
    package let answeredAt: Timestamp
    /// Number of attempts, with the successful one.
    package let tries: Int

    package init(page: Int, request: RequestTrace, askedAt: Timestamp, answeredAt: Timestamp, tries: Int) {
        (self.page, self.request, self.askedAt, self.answeredAt) = (page, request, askedAt, answeredAt)
        self.tries = tries
    }
}
