/// The JSON body of a callback. The account is a pseudonym; the body contains no text, URL or credential.
public struct CallbackEvent: Sendable, Hashable, Codable {
    /// `evt_…`, the same for every attempt.
    public let id: String
    public let type: String
    /// The pseudonym of the account.
    public var account: String?
    public var digest: String?
    public var slot: String?
    public var fireAt: String?
    /// The time of delivery; `nil` if the digest was not shown.
    public var deliveredAt: String?
    public var status: String?
    public var errorCode: String?
    public var timezone = ""
    public var appVersion = ""
    public let createdAt: String
    /// The configuration of the digests; only for ``CallbackKind/configUpdated``.
    public var config: String?

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

    public init(_ kind: CallbackKind, id: String, createdAt: Timestamp) {
        self.id = id
        type = kind.rawValue
        self.createdAt = createdAt.iso8601
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
