/// A language tag (BCP 47), compared case-insensitively: `en`, `pl-PL`, `zh-Hant-TW`.
public struct LocaleTag: Sendable, Hashable, CustomStringConvertible {
    /// The subtags in lower case, the language first.
    let parts: [String]
    /// The tag in its original spelling.
    public let description: String

    /// `nil` unless `text` is a language of two to eight letters, followed by subtags of one to eight letters and
    /// digits after `-` or `_`.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
        guard let language = parts.first, (2...8).contains(language.utf8.count),
            language.utf8.allSatisfy(\.isLetter),
            parts.allSatisfy({ (1...8).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isAlphanumeric) })
        else { return nil }
        self.parts = parts.map { $0.lowercased() }
        description = String(text)
    }

    private init(parts: [String]) {
        self.parts = parts
        description = parts.joined(separator: "-")
    }

    /// English, the only locale with every message.
    public static let english = LocaleTag(parts: ["en"])

    public var language: String { parts[0] }

    /// This tag and its shorter fallbacks: `zh-hant-tw`, `zh-hant`, `zh`.
    public var chain: [LocaleTag] {
        stride(from: parts.count, through: 1, by: -1).map { LocaleTag(parts: Array(parts.prefix($0))) }
    }

    public static func == (a: LocaleTag, b: LocaleTag) -> Bool { a.parts == b.parts }

    public func hash(into hasher: inout Hasher) { hasher.combine(parts) }
}
