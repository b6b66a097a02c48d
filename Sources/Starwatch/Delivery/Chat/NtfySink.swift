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
                var headers: [(name: String, value: String)] = [("X-Notification-ID", draft.notification.id)]
                if draft.secret != nil { headers.append(("Authorization", "Bearer " + draft.token)) }
                return ServiceRequest(body(of: draft.notification, topic: draft.room), path: "/", headers: headers)
            }
        }
    }

    /// Maximum message size. ntfy turns a longer message into an attachment, which most servers do not allow.
    private static let messageBytes = 4096
    /// Maximum body size. A server reads at most twice its maximum message size.
    private static let bodyBytes = 2 * messageBytes
    /// Maximum link size. A longer link, to a plan with a long handle, is left out.
    private static let clickBytes = 1024

    /// A notification in ntfy's JSON format, shortened to the server's body limit. ntfy's headers allow ASCII only. Escaped
    /// characters such as quotes take two bytes.
    ///
    /// The sequence id is that of the message. A message with a known id replaces the earlier one on the device (ntfy 2.16; older
    /// versions ignore it). A retry therefore shows nothing twice, and only the latest notification of a poll is shown.
    private static func body(of notification: OutgoingNotification, topic: String) -> [UInt8] {
        let payload = JSONTree(json: notification.payload)
        func field(_ name: String) -> String? { if case .text(let text)? = payload?[name] { text } else { nil } }
        func cut(_ text: String, to bytes: Int) -> JSONTree { .text(text.cut(to: bytes, by: { $0.utf8.count })) }
        let click = field("deep_link").flatMap { $0.utf8.count <= clickBytes ? $0 : nil }
        let sequence = field("collapse_key").flatMap { (1...64).contains($0.utf8.count) && isWord($0) ? $0 : nil }
        let json = JSONTree.object(["topic": .text(topic), "title": cut(notification.title, to: 250)])
            .adding("click", click.map { .text($0) }).adding("sequence_id", sequence.map { .text($0) })
            .adding("priority", field("priority") == "low" ? 2 : nil)
        var length = messageBytes
        while true {
            let bytes = StableJSON.bytes(of: json.adding("message", cut(notification.body, to: length)))
            guard bytes.count > bodyBytes, length > 1 else { return bytes }
            length /= 2
        }
    }

    /// Whether a text has letters, digits, `-` and `_` alone.
    private static func isWord(_ text: String) -> Bool {
        text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
    }

    package static func address(of sink: SinkOptions) -> String? {
        guard let url = sink["url"]?.text, let topic = sink["topic"]?.text else { return nil }
        return (url.hasSuffix("/") ? url : url + "/") + topic
    }

    package static func problem(of part: SinkAddress.Part, _ text: String, in sink: SinkOptions) -> String? {
        part == .topic ? topicProblem(text) : usualProblem(of: part, text)
    }

    private static func topicProblem(_ text: String) -> String? {
        isWord(text) && text.utf8.count <= 64 ? nil : "must be letters, digits, - and _, at most 64 long."
    }
}

extension SinkOptions.Kind {
    /// A topic of an ntfy server; without a token if `tokenFile` is `nil`.
    public static func ntfy(url: String, topic: String, tokenFile: String?) -> Self {
        Self(NtfySink.self, ["url": .text(url), "topic": .text(topic), "token_file": tokenFile.map { .text($0) }])
    }
}
