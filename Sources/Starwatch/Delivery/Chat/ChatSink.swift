import FoundationEssentials
package import StarwatchCore
import StarwatchTransport

/// Posts each notification to a chat, in the format of its service.
package struct ChatSink: AddressedSink {
    package let name: String
    let service: ChatService
    var receiver: (room: String, token: SinkSecret?)
    /// The service's address, or the file that has it.
    var address: Address
    let timeout: Duration
    let http: any HTTPTransport
    let time: any TimeSource

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
            token: String(decoding: secret, as: UTF8.self)
        )
        let headers = [("Content-Type", "application/json"), ("User-Agent", AgentVersion.userAgent)]
        let exchange = await http.exchange(
            HTTPRequest(
                method: request.method,
                url: (request.path.isEmpty || !url.hasSuffix("/") ? url : String(url.dropLast())) + request.path,
                headers: headers + request.headers,
                body: request.body,
                timeout: timeout,
                maxResponseBytes: SinkResult.largestResponseBytes
            )
        )
        return SinkResult(exchange, at: time.now) { ChatWait.read($0, now: time.now) }
    }

    /// The address without reading a file.
    var url: String { if case .url(let url) = address { url } else { "" } }

    func sink(of account: DID, at address: SinkAddress) -> ChatSink {
        var sink = self
        if let url = address.url { sink.address = .url(url) }
        if let room = address.room { sink.receiver.room = room }
        if let secret = address.secret { sink.receiver.token = .value(secret) }
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
