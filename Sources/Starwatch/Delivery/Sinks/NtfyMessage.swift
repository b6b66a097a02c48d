import FoundationEssentials
import StarwatchCore

/// A notification as ntfy takes it: JSON, because its headers carry ASCII only.
struct NtfyMessage: Encodable {
    /// A longer message becomes an attachment, which most servers do not allow.
    static let messageBytes = 4096
    static let titleBytes = 250
    /// A link that is longer, to a plan whose handle is long, is left out.
    static let clickBytes = 1024
    /// A server reads no more than twice its longest message.
    static let bodyBytes = 2 * messageBytes

    var topic: String
    var title: String
    var message: String
    /// Where a tap leads.
    var click: String?
    /// A message with one that is known replaces the former one on the device (ntfy 2.16; others pass it over). So a
    /// retry shows nothing twice, and of a poll only the latest notification is shown.
    var sequenceID: String?

    /// 2 is low, of 1 to 5; `nil`: as every other.
    var priority: Int?

    enum CodingKeys: String, CodingKey {
        case topic, title, message, click, priority
        case sequenceID = "sequence_id"
    }

    init(_ notification: OutgoingNotification, topic: String) {
        self.topic = topic
        title = Self.cut(notification.title, to: Self.titleBytes)
        message = Self.cut(notification.body, to: Self.messageBytes)
        let more = try? JSONDecoder().decode(More.self, from: Data(notification.payload))
        click = more?.deepLink.flatMap { $0.utf8.count <= Self.clickBytes ? $0 : nil }
        priority = more?.priority == "low" ? 2 : nil
        sequenceID = more?.collapseKey.flatMap { Self.isSequenceID($0) ? $0 : nil }
    }

    /// What only the payload has.
    private struct More: Decodable {
        var deepLink: String?
        var collapseKey: String?
        var priority: String?

        enum CodingKeys: String, CodingKey {
            case deepLink = "deep_link"
            case collapseKey = "collapse_key"
            case priority
        }
    }

    /// Not more than a server reads: quotes and the like take two bytes.
    func json() -> [UInt8] {
        var shorter = self
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var length = Self.messageBytes
        while true {
            let bytes = (try? encoder.encode(shorter)).map(Array.init) ?? []
            guard bytes.count > Self.bodyBytes, length > 1 else { return bytes }
            length /= 2
            shorter.message = Self.cut(message, to: length)
        }
    }

    /// The beginning of `text`, with an ellipsis where something was cut off, always whole characters.
    static func cut(_ text: String, to bytes: Int) -> String {
        guard text.utf8.count > bytes else { return text }
        var short = ""
        var count = "…".utf8.count
        for character in text {
            count += character.utf8.count
            guard count <= bytes else { break }
            short.append(character)
        }
        return short + "…"
    }

    /// What ntfy takes as one: up to 64 letters, digits, `-` and `_`.
    private static func isSequenceID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 95
            }
    }
}
