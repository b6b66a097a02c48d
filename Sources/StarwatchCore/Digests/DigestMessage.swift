/// The JSON of a digest for sinks: a ``NotificationMessage`` without changes, plus the fields of a digest.
public struct DigestMessage: Sendable, Hashable, Codable {
    public let id: String
    public let runID: String
    /// Always `digest`, so that receivers can distinguish it from a poll's notification.
    public let kind: String
    /// The digest's name.
    public let poll: String
    public let group: NotificationGroup
    public let count: Int
    public let slot: String
    public let collapseKey: String
    public let title: String
    public let body: String
    public let locale: String
    public let createdAt: String
    public let deepLink: String
    public let actions: [String]
    public let changes: [NotificationMessage.Item]
    /// The time of the occurrence.
    public let fireAt: String
    /// The time of its content; missing without content.
    public let contentAt: String?
    /// The pseudonym of the account, of an agent that works for many; `nil` otherwise.
    public package(set) var account: String?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id
        case runID = "run_id"
        case kind, poll, group, count, slot
        case collapseKey = "collapse_key"
        case title, body, locale
        case createdAt = "created_at"
        case deepLink = "deep_link"
        case actions, changes
        case fireAt = "fire_at"
        case contentAt = "content_at"
        case account
    }

    public static let longestTitle = 200
    public static let longestBody = 4000

    /// - Parameter id: The stable id, kept through every retry and every new text.
    public init(
        id: String,
        runID: String,
        occurrence: DigestOccurrence,
        text: DigestText,
        title: String,
        body: String,
        locale: String
    ) {
        self.id = id
        self.runID = runID
        kind = "digest"
        poll = occurrence.digest.rawValue
        group = .single
        count = 1
        slot = occurrence.slot
        collapseKey = occurrence.digest.rawValue.replacing("_", with: "-")
        self.title = Self.bounded(title, Self.longestTitle, keepsLines: false)
        self.body = Self.bounded(body, Self.longestBody, keepsLines: true)
        self.locale = locale
        fireAt = occurrence.fireAt.iso8601
        createdAt = fireAt
        deepLink = DeepLink.notifications.url
        actions = [NotificationAction.dismiss.rawValue]
        changes = []
        contentAt = text.contentAt?.iso8601
    }

    /// JSON with sorted keys, so that every attempt sends the same bytes.
    public func json() -> [UInt8] { StableJSON.bytes(of: self) }

    /// Removes control characters from foreign content and limits its length.
    private static func bounded(_ text: String, _ length: Int, keepsLines: Bool) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 32 || (127...159).contains(scalar.value)
            scalars.append(isControl && !(keepsLines && scalar == "\n") ? " " : scalar)
        }
        let clean = String(scalars)
        return clean.count > length ? clean.prefix(length - 1) + "…" : clean
    }
}

/// The configured texts of a digest.
public struct DigestWording: Sendable, Hashable {
    public var title: String
    public var body: String
    public var fallbackTitle: String
    public var fallbackBody: String

    public init(title: String, body: String, fallbackTitle: String, fallbackBody: String) {
        (self.title, self.body, self.fallbackTitle) = (title, body, fallbackTitle)
        self.fallbackBody = fallbackBody
    }

    /// The title and body of one occurrence, and the template variables that the content lacks.
    ///
    /// The text of cached content includes its time.
    public func render(
        _ text: DigestText,
        _ content: DigestContent?,
        in zone: any TimeZoneRules
    ) -> (title: String, body: String, unknown: [String]) {
        if text == .fallback { return (fallbackTitle, fallbackBody, []) }
        let title = TextTemplate(title).render(content)
        var body = TextTemplate(body).render(content)
        if case .cached(let time) = text { body.text += " (as of \(Self.moment(time, in: zone)))" }
        return (title.text, body.text, title.unknown + body.unknown)
    }

    /// A hash of the texts, the same in every process.
    public var fingerprint: Int64 { [title, body, fallbackTitle, fallbackBody].stableHash }

    private static func moment(_ time: Timestamp, in zone: any TimeZoneRules) -> String {
        String((time + .seconds(zone.offsetSeconds(at: time))).iso8601.prefix(16).replacing("T", with: " "))
    }
}
