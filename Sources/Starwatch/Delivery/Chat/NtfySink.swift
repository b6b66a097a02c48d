import FoundationEssentials
package import StarwatchCore
import StarwatchTransport

/// A topic of an ntfy server.
package enum NtfySink: RequestKind {
    package static let kind = "ntfy"
    package static let settings =
        [
            SinkSetting("url", .url, isNeeded: true, part: .url),
            SinkSetting("topic", .text(topicProblem), isNeeded: true, part: .topic, shown: "<secret>"),
            SinkSetting("token_file", .secretFile(.token), part: .secret),
        ] + SinkSetting.connection
    package static let setups = [
        SetupSink(
            kind,
            SinkOptions.Kind(NtfySink.self),
            rank: 4,
            ["url", "topic"].map { .init($0, form: $0.uppercased(), "The URL or the topic of the sink") },
            secret: SetupSink.Secret(setting: "token_file", name: "ntfy.token")
        )
    ]
    package static var examples: [(comment: String, sink: SinkOptions)] {
        let kind = SinkOptions.Kind.ntfy(url: "https://ntfy.sh", topic: "my-topic", tokenFile: "ntfy.token")
        return [("A topic of an ntfy server:", SinkOptions(name: "phone", kind: kind))]
    }

    package static func format(of sink: SinkOptions) -> SinkFormat {
        SinkFormat(kind) {
            $0.access = [.topic, .secret]
            $0.refusal = { status, _ in
                "The ntfy server refuses the sink (HTTP \(status)); correct its url, topic or token_file."
            }
            $0.request = { draft in
                let message = NtfyMessage(draft.notification, topic: draft.room)
                var headers: [(name: String, value: String)] = [("X-Notification-ID", draft.notification.id)]
                if draft.secret != nil { headers.append(("Authorization", "Bearer " + draft.token)) }
                return ServiceRequest(message.json(), path: "/", headers: headers)
            }
        }
    }

    package static func address(of sink: SinkOptions) -> String? {
        guard let url = sink["url"]?.text, let topic = sink["topic"]?.text else { return nil }
        return (url.hasSuffix("/") ? url : url + "/") + topic
    }

    package static func problem(of part: SinkAddress.Part, _ text: String, in sink: SinkOptions) -> String? {
        part == .topic ? topicProblem(text) : usualProblem(of: part, text)
    }

    private static func topicProblem(_ text: String) -> String? {
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        return isPlain && text.utf8.count <= 64 ? nil : "must be letters, digits, - and _, at most 64 long."
    }
}

extension SinkOptions.Kind {
    /// A topic of an ntfy server; without a token if `tokenFile` is `nil`.
    public static func ntfy(url: String, topic: String, tokenFile: String?) -> Self {
        Self(NtfySink.self, ["url": .text(url), "topic": .text(topic), "token_file": tokenFile.map { .text($0) }])
    }
}

/// A notification in ntfy's JSON format. ntfy's headers allow ASCII only.
struct NtfyMessage: Encodable {
    /// Maximum message size. ntfy turns a longer message into an attachment, which most servers do not allow.
    static let messageBytes = 4096
    static let titleBytes = 250
    /// Maximum link size. A longer link, to a plan with a long handle, is left out.
    static let clickBytes = 1024
    /// Maximum body size. A server reads at most twice its maximum message size.
    static let bodyBytes = 2 * messageBytes

    var topic: String
    var title: String
    var message: String
    /// Link that a tap opens.
    var click: String?
    /// Id of the message. A message with a known id replaces the earlier one on the device (ntfy 2.16; older versions
    /// ignore it). A retry therefore shows nothing twice, and only the latest notification of a poll is shown.
    var sequenceID: String?

    /// Priority from 1 to 5; 2 is low. `nil` means the default.
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

    /// The fields that only the payload contains.
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

    /// Returns the JSON, shortened to the server's body limit. Escaped characters such as quotes take two bytes.
    func json() -> [UInt8] {
        var shorter = self
        var length = Self.messageBytes
        while true {
            let bytes = StableJSON.bytes(of: shorter)
            guard bytes.count > Self.bodyBytes, length > 1 else { return bytes }
            length /= 2
            shorter.message = Self.cut(message, to: length)
        }
    }

    private static func cut(_ text: String, to bytes: Int) -> String { text.cut(to: bytes, by: { $0.utf8.count }) }

    /// Returns `true` for an id that ntfy accepts: up to 64 letters, digits, `-` and `_`.
    private static func isSequenceID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 95
            }
    }
}
