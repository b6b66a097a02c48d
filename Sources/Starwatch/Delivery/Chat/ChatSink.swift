import FoundationEssentials
package import StarwatchCore
import StarwatchTransport

/// Posts each notification to a chat, in the format of its service.
package struct ChatSink: AddressedSink {
    package let name: String
    let service: ChatService
    var receiver: (room: String, token: SinkSecret?)
    /// The topic in the room; `nil` for none.
    var topic: Int?
    /// The service's address, or the file that has it.
    var address: Address
    let timeout: Duration
    let http: any HTTPTransport
    let time: any TimeSource
    /// The texts beside a notification's own.
    var catalogues = MessageCatalogues.builtIn
    /// Parts of the address that the account brought; all others share the rest.
    private(set) var brought: [SinkAddressPart] = []

    enum Address: Sendable {
        case url(String)
        case file(SecretFile)
    }

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        let url: String
        do throws(SinkFailure) { url = try presentURL() } catch { return .unavailable(error) }
        var secret: [UInt8] = []
        if let token = receiver.token {
            guard let read = try? token.read() else {
                return .unavailable(SinkFailure("The sink's token_file cannot be read.", .tokenFile))
            }
            secret = read
        }
        let request = ChatRequest(
            notification,
            for: service,
            room: receiver.room,
            topic: topic,
            token: String(decoding: secret, as: UTF8.self),
            catalogues: catalogues
        )
        let headers = [("Content-Type", "application/json"), ("User-Agent", AgentVersion.userAgent)]
        let exchange = await http.exchange(
            HTTPRequest(
                method: request.method,
                url: ChatAddress.url(url, for: request),
                headers: headers + request.headers,
                body: request.body,
                timeout: timeout,
                maxResponseBytes: SinkResult.largestResponseBytes
            )
        )
        return SinkResult(exchange, of: service, brought: brought, at: time.now)
    }

    /// The address without reading a file.
    var url: String { if case .url(let url) = address { url } else { "" } }

    func sink(of account: DID, at address: SinkAddress) -> ChatSink {
        var sink = self
        if let url = address.url { sink.address = .url(url) }
        if let room = address.room { (sink.receiver.room, sink.topic) = (room, address.topic.flatMap { Int($0) }) }
        if let secret = address.secret { sink.receiver.token = .value(secret) }
        sink.brought = address.parts
        return sink
    }

    var secrets: [String] {
        // The words of the service's own path are in its answers.
        SinkWords.secrets(of: (try? presentURL()) ?? "").filter { service.path?.contains($0) != true }
            + [receiver.room] + (receiver.token?.words ?? [])
    }

    private func presentURL() throws(SinkFailure) -> String {
        switch address {
        case .url(let url): url
        case .file(let file): try ChatAddress.read(file, for: service)
        }
    }
}

extension SinkResult {
    /// The meaning of a chat's answer.
    init(_ exchange: HTTPExchange, of service: ChatService, brought: [SinkAddressPart], at now: Timestamp) {
        let (status, body) = (exchange.answeredStatus, (try? exchange.result.get())?.body ?? [])
        let refused = service.refusedParts(status, body: body)
        guard !refused.isEmpty else {
            self.init(exchange, at: now) { ChatWait.read($0, now: now) }
            let limited = status == 429 ? service.limitedPart(body: body) : nil
            isOfReceiver = limited.map { brought.contains($0) } ?? false
            return
        }
        let room = refused.contains(.topic) ? "room, topic" : "room"
        let sentence =
            status == 204
            ? "The Apprise server has no service under the key (HTTP 204); correct url, or save one there."
            : "The service refuses the sink (HTTP \(status)); correct its url, \(room) or token_file."
        self.init(exchange, refusing: refused, brought: brought, sentence)
    }
}

extension ChatService {
    /// The parts of the address that an answer refuses, by its status and the words of the service; empty if it refuses none.
    fileprivate func refusedParts(_ status: Int, body: [UInt8]) -> [SinkAddressPart] {
        let answer = JSONTree(json: body)
        func says(_ words: String, in field: String) -> Bool {
            answer?[field]?.scalar?.lowercased().contains(words.lowercased()) == true
        }
        return switch (self, status) {
        case (.apprise, 204): [.url]
        // The channel is a forum, whose address needs the parameter thread_id.
        case (.discord, 400): says("22000", in: "code") ? [.url] : []
        case (.telegram, 400):
            Self.lostTopics.contains { says($0, in: "description") }
                ? [.room, .topic] : Self.lostRooms.contains { says($0, in: "description") } ? [.room] : []
        case (.pushover, 400): says("invalid", in: "token") ? [.secret] : says("invalid", in: "user") ? [.room] : []
        case (.mattermost, 400): says("web.incoming_webhook.invalid", in: "id") ? [.url] : []
        // The token is in the path.
        case (.telegram, 404): [.secret]
        case (.matrix, 404) where says("M_NOT_FOUND", in: "errcode"): [.room]
        default: SinkAddressPart.refused(by: status, of: access)
        }
    }

    /// The parts that give access beside the URL.
    private var access: [SinkAddressPart] {
        SinkAddressPart.allCases.filter { $0 == .room && needsRoom || $0 == .secret && needsToken }
    }

    /// The part of the address whose messages a limit counts, as Pushover does for a month; `nil` for a limit of the host.
    fileprivate func limitedPart(body: [UInt8]) -> SinkAddressPart? {
        switch self {
        case .matrix, .telegram, .gotify, .pushover: .secret
        case .slack, .teams: .url
        // A limit of the whole machine is global, or comes from what stands before the service, as a page.
        case .discord: JSONTree(json: body)?["global"] == .flag(false) ? .url : nil
        case .mattermost, .apprise: nil
        }
    }

    /// Descriptions of Telegram: the group has no such topic, or it was closed.
    private static let lostTopics = ["message thread not found", "TOPIC_CLOSED", "TOPIC_DELETED"]

    /// Descriptions of Telegram: the chat is unknown or was closed, has another id as a supergroup, or takes no messages of the
    /// bot. Which of the last ones comes depends on the kind of the chat.
    private static let lostRooms = [
        "chat not found", "PEER_ID_INVALID", "group chat was deactivated", "upgraded to a supergroup chat",
        "not enough rights to send", "have no rights to send", "have no write access to the chat",
        "need administrator rights in the channel", "CHAT_ADMIN_REQUIRED", "CHAT_RESTRICTED", "CHAT_WRITE_FORBIDDEN",
    ]
}

/// The wait that a service asks for in its answer, beside or in place of `Retry-After`.
enum ChatWait {
    private struct Body: Decodable {
        /// Discord: seconds.
        var retryAfter: Double?
        /// Matrix.
        var milliseconds: Double?
        /// Telegram.
        var parameters: Parameters?

        struct Parameters: Decodable {
            var retryAfter: Double?

            enum CodingKeys: String, CodingKey { case retryAfter = "retry_after" }
        }

        enum CodingKeys: String, CodingKey {
            case retryAfter = "retry_after"
            case milliseconds = "retry_after_ms"
            case parameters
        }
    }

    /// `nil` if the answer asks for none.
    static func read(_ response: HTTPResponse, now: Timestamp) -> Duration? {
        // Pushover: the time at which a new month begins.
        if let reset = response.headers["x-limit-app-reset"].flatMap({ Int64($0) }), response.status == 429 {
            // A week later it asks again.
            return .seconds(min(max(0, min(reset, 1 << 40) - now.wholeSeconds), 7 * 86_400))
        }
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(response.body)) else { return nil }
        let seconds = body.retryAfter ?? body.milliseconds.map { $0 / 1000 } ?? body.parameters?.retryAfter
        guard let seconds, seconds > 0, seconds < 1e9 else { return nil }
        return .milliseconds(Int64((seconds * 1000).rounded(.up)))
    }
}
