/// The JSON body of a callback. The account is a pseudonym; the body contains no text, URL or credential.
public struct CallbackEvent: Sendable, Hashable, Codable {
    /// `evt_…`, the same for every attempt.
    public let id: String
    public let type: String
    public let account: String?
    public let digest: String?
    public let slot: String?
    public let fireAt: String?
    public let deliveredAt: String?
    public let status: String?
    public let errorCode: String?
    public let timezone: String
    public let appVersion: String
    public let createdAt: String
    /// The configuration of the digests; only for ``CallbackKind/configUpdated``.
    public let config: String?

    enum CodingKeys: String, CodingKey {
        case id, type, account, digest, slot
        case fireAt = "fire_at"
        case deliveredAt = "delivered_at"
        case status
        case errorCode = "error_code"
        case timezone
        case appVersion = "app_version"
        case createdAt = "created_at"
        case config
    }

    /// The sender of an event.
    public struct Sender: Sendable, Hashable {
        /// The pseudonym of the account.
        public var account: String?
        public var timezone: String
        public var appVersion: String

        public init(account: String?, timezone: String, appVersion: String) {
            self.account = account
            self.timezone = timezone
            self.appVersion = appVersion
        }
    }

    /// The result of a digest's occurrence.
    public struct Result: Sendable, Hashable {
        public var status: SlotStatus?
        public var code: SlotCode?
        /// The time of delivery; `nil` if the digest was not shown.
        public var deliveredAt: Timestamp?

        public init(status: SlotStatus? = nil, code: SlotCode? = nil, deliveredAt: Timestamp? = nil) {
            self.status = status
            self.code = code
            self.deliveredAt = deliveredAt
        }
    }

    public init(
        _ kind: CallbackKind,
        id: String,
        sender: Sender,
        occurrence: DigestOccurrence? = nil,
        result: Result = Result(),
        config: String? = nil,
        createdAt: Timestamp
    ) {
        self.id = id
        type = kind.rawValue
        account = sender.account
        digest = occurrence?.digest.rawValue
        slot = occurrence?.slot
        fireAt = occurrence?.fireAt.iso8601
        deliveredAt = result.deliveredAt?.iso8601
        status = result.status?.rawValue
        errorCode = result.code?.rawValue
        timezone = sender.timezone
        appVersion = sender.appVersion
        self.createdAt = createdAt.iso8601
        self.config = config
    }

    /// JSON with sorted keys. Unknown fields are omitted.
    public func json() -> String { StableJSON.text(of: self) }
}

/// The kinds of callback events.
public enum CallbackKind: String, Sendable, CaseIterable {
    /// A digest was shown.
    case delivery
    /// A digest was not shown, or its fetch failed.
    case error
    /// The agent is running.
    case heartbeat
    /// The configuration of the digests changed.
    case configUpdated = "config_updated"
}
