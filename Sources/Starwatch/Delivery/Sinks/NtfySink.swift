import FoundationEssentials
package import StarwatchCore
import StarwatchTransport

/// Publishes each notification to an ntfy topic.
package struct NtfySink: AddressedSink {
    package let name: String
    var url: String
    var topic: String
    let http: any HTTPTransport
    let time: any TimeSource
    var token: SinkSecret?
    /// Parts of the address that are the account's own; all others share the rest.
    private(set) var brought: [SinkAddressPart] = []

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        var headers: [(name: String, value: String)] = [
            ("Content-Type", "application/json"), ("User-Agent", AgentVersion.userAgent),
            ("X-Notification-ID", notification.id),
        ]
        if let token {
            guard let value = try? token.read() else {
                return .unavailable(SinkFailure("The sink's token_file cannot be read.", .tokenFile))
            }
            headers.append(("Authorization", "Bearer " + String(decoding: value, as: UTF8.self)))
        }
        let exchange = await http.exchange(
            HTTPRequest(
                method: .post,
                url: url.hasSuffix("/") ? url : url + "/",
                headers: headers,
                body: NtfyMessage(notification, topic: topic).json(),
                timeout: .seconds(30),
                maxResponseBytes: SinkResult.largestResponseBytes
            )
        )
        let status = exchange.answeredStatus
        let refused = SinkAddressPart.refused(by: status, of: [.topic, .secret])
        guard !refused.isEmpty else { return SinkResult(exchange, at: time.now) }
        let sentence = "The ntfy server refuses the sink (HTTP \(status)); correct its url, topic or token_file."
        return SinkResult(exchange, refusing: refused, brought: brought, sentence)
    }

    var secrets: [String] { SinkWords.secrets(of: url) + [topic] + (token?.words ?? []) }

    func sink(of account: DID, at address: SinkAddress) -> NtfySink {
        var sink = self
        if let url = address.url { sink.url = url }
        if let topic = address.topic { sink.topic = topic }
        if let secret = address.secret { sink.token = .value(secret) }
        sink.brought = address.parts
        // A token that neither has is missing at the account, not at the others.
        if sink.token == nil, !sink.brought.isEmpty { sink.brought.append(.secret) }
        return sink
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
