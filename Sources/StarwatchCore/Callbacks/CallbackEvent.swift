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

    /// - Parameter account: The pseudonym.
    public init(
        _ kind: CallbackKind,
        id: String,
        account: String?,
        timezone: String,
        appVersion: String,
        createdAt: Timestamp,
        occurrence: DigestOccurrence? = nil,
        status: SlotStatus? = nil,
        code: SlotCode? = nil,
        deliveredAt: Timestamp? = nil,
        config: String? = nil
    ) {
        self.id = id
        type = kind.rawValue
        self.account = account
        digest = occurrence?.digest.rawValue
        slot = occurrence?.slot
        fireAt = occurrence?.fireAt.iso8601
        self.deliveredAt = deliveredAt?.iso8601
        self.status = status?.rawValue
        errorCode = code?.rawValue
        self.timezone = timezone
        self.appVersion = appVersion
        self.createdAt = createdAt.iso8601
        self.config = config
    }

    /// JSON with sorted keys. Unknown fields are omitted.
    public func json() -> String { StableJSON.text(of: self) }
}
