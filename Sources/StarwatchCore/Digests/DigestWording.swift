/// The configured texts of a digest.
public struct DigestWording: Sendable, Hashable {
    public var title: String
    public var body: String
    public var fallbackTitle: String
    public var fallbackBody: String

    public init(title: String, body: String, fallbackTitle: String, fallbackBody: String) {
        self.title = title
        self.body = body
        self.fallbackTitle = fallbackTitle
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
    public var fingerprint: Int64 {
        // FNV-1a. Swift's own hash has another seed in every process.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for text in [title, body, fallbackTitle, fallbackBody] {
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            hash = (hash ^ 0xff) &* 0x100_0000_01b3
        }
        return Int64(bitPattern: hash)
    }

    private static func moment(_ time: Timestamp, in zone: any TimeZoneRules) -> String {
        String((time + .seconds(zone.offsetSeconds(at: time))).iso8601.prefix(16).replacing("T", with: " "))
    }
}
