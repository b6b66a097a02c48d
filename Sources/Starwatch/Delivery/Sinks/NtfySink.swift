package import StarwatchCore
package import StarwatchTransport

/// Publishes each notification to an ntfy topic.
package struct NtfySink: NotificationSink {
    package let name: String
    private let url: String
    private let topic: String
    private let http: any HTTPTransport
    private let time: any TimeSource
    private let token: SecretFile?

    package init(
        name: String,
        url: String,
        topic: String,
        http: any HTTPTransport,
        time: any TimeSource,
        token: SecretFile?
    ) {
        self.name = name
        self.url = url.hasSuffix("/") ? url : url + "/"
        self.topic = topic
        self.http = http
        self.time = time
        self.token = token
    }

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        var headers: [(name: String, value: String)] = [
            ("Content-Type", "application/json"), ("User-Agent", AgentVersion.userAgent),
            ("X-Notification-ID", notification.id),
        ]
        if var token {
            guard let value = try? token.read() else {
                return .unavailable(SinkFailure("The sink's token_file cannot be read.", .tokenFile), retryAfter: nil)
            }
            headers.append(("Authorization", "Bearer " + String(decoding: value, as: UTF8.self)))
        }
        let exchange = await http.exchange(
            HTTPRequest(
                method: .post,
                url: url,
                headers: headers,
                body: NtfyMessage(notification, topic: topic).json(),
                timeout: .seconds(30),
                maxResponseBytes: HTTPSinkAnswer.largestBytes
            )
        )
        return HTTPSinkAnswer.result(of: exchange, at: time.now)
    }
}
