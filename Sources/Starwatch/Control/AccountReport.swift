package import StarwatchCore

/// One of many accounts, as an operator sees it.
package struct AccountReport: Sendable, Codable, Hashable {
    package var did: String
    /// The account's pseudonym in logs and in notifications.
    package var pseudonym: String
    /// `active` or `paused`.
    package var status: String
    /// Number of starred plans.
    package var stars: Int
    /// Names of the configured polls that it wants.
    package var polls: [String]
    /// Time of its addition.
    package var addedAt: TimeText
    /// Time of its next visit, by the local clock; `nil` while it is paused.
    package var dueAt: TimeText?
    /// Start of the last cycle that asked the server; `nil` before the first.
    package var lastAttempt: TimeText?
    /// End of the last cycle that succeeded; `nil` before the first.
    package var lastSuccess: TimeText?
    /// Whether the agent works for it now.
    package var working: Bool
    /// `set`, `missing`, `rejecting` or `gone`, for each sink whose address the account brings. A rejecting one rejected
    /// everything of late, a gone one returned 410. No address or secret is shown.
    package var sinks: [String: String]
    /// The reason of each rejecting sink, such as `http_404`; `nil` if none rejects.
    package var sinkReasons: [String: String]?
    /// `nil` while its polls and acknowledgements succeed.
    package var failure: AccountFailureReport?
}

/// The failure of an account, at the poll that fails for longest.
public struct AccountFailureReport: Sendable, Codable, Hashable {
    public var poll: String
    /// The reason, such as `http_401` or `no_token`; `nil` if it is not known.
    public var reason: String?
    /// The same as one sentence with advice.
    public var problem: String
    /// The first failure since the last success, by the local clock.
    public var since: TimeText
    /// The number of failures since then.
    public var failures: Int
    /// Time of the next try at the latest; `nil` if none is planned.
    public var nextTry: TimeText?

    enum CodingKeys: String, SnakeKey { case poll, reason, problem, since, failures, nextTry }

    init(_ failure: AccountFailure, nextTry: Timestamp?) {
        (poll, reason) = (failure.poll.rawValue, failure.reason?.description)
        (problem, since, failures) = (failure.sentence, failure.since.iso8601, failure.count)
        self.nextTry = nextTry?.iso8601
    }
}

/// A page of accounts.
package struct AccountListing: Sendable, Codable {
    package var accounts: [AccountReport]
}

package struct AccountQuery: Sendable {
    package static let listLimit = 1000

    /// The maximum number of accounts.
    package var limit = 100
    /// The DID of the last account of the former page; `nil` for the first page.
    package var after: String?
    /// Whether to list only accounts that fail, the longest failure first.
    package var failing = false

    package init() {}
}

/// `{"accounts": [{"did": "did:…", "stars": ["…"], "polls": ["…"], "sinks": {"hook": {"url": "https://…"}}}]}`. Accounts that
/// exist get what is given.
package struct AccountAdditions: Sendable, Codable {
    package struct Entry: Sendable, Codable, Hashable {
        package var did: String
        /// The starred plans; without them, those of an account that exists stay.
        package var stars: [String]?
        /// The configured polls that it wants; without them, those of an account that exists stay, and a new one has all.
        package var polls: [String]?
        /// The account's addresses by their sinks; `null` takes one away. Those of other sinks stay.
        package var sinks: [String: SinkAddress?]?

        package init(
            did: String,
            stars: [String]? = nil,
            polls: [String]? = nil,
            sinks: [String: SinkAddress?]? = nil
        ) {
            (self.did, self.stars, self.polls, self.sinks) = (did, stars, polls, sinks)
        }

        /// - Throws: ``ControlError`` for an address with other fields, because a mistyped secret must not be left out.
        func checkFields() throws {
            guard sinks?.values.contains(where: { $0?.hasUnknownFields == true }) == true else { return }
            throw ControlError(.invalid, "An address has a field other than url, room, topic and secret; correct it.")
        }
    }

    /// The largest number of entries of one request.
    package static let limit = 1000

    package var accounts: [Entry]

    package init(accounts: [Entry]) { self.accounts = accounts }
}

/// The result for each entry, in their order. A refused entry changes nothing, and the others are added.
package struct AccountAdditionsReport: Sendable, Codable {
    package struct Entry: Sendable, Codable, Hashable {
        /// `added`, `changed`, `unchanged` or `refused`.
        package var result: String
        /// One sentence; `nil` unless it is refused.
        package var problem: String?
        /// `true` for an added account that was stored: it begins anew, so its changes since it left are not announced. `nil`
        /// for others.
        package var returned: Bool?
    }

    package var accounts: [Entry]
    /// A sentence about the schedules if they ask for more requests than the limit allows; `nil` if they do not.
    package var warning: String?
}
