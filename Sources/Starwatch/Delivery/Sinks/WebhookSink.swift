package import StarwatchCore
import StarwatchTransport

/// Posts each notification to a URL, according to the Standard Webhooks specification.
///
/// `webhook-id` is the notification's id and is the same for every retry. A receiver that stores ids therefore sees
/// each notification once.
package struct WebhookSink: NotificationSink {
    package let name: String
    package let takesBack = true
    let url: String
    let timeout: Duration
    let http: any HTTPTransport
    let time: any TimeSource
    /// File with the signing key; `nil` omits `webhook-signature`. During a rotation the file contains several keys, one
    /// per line, and every request is signed with each key.
    let secret: SecretFile?

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        var headers: [(name: String, value: String)] = [
            ("Content-Type", "application/json"), ("User-Agent", AgentVersion.userAgent),
            ("X-Run-ID", notification.runID),
        ]
        let now = time.now
        if var secret {
            guard let key = try? secret.read(), let signer = WebhookSigner(file: key) else {
                return .unavailable(SinkFailure("The sink's secret_file cannot be used.", .tokenFile))
            }
            headers += signer.headers(id: notification.id, timestamp: now, body: notification.payload)
        } else {
            headers += [("webhook-id", notification.id), ("webhook-timestamp", String(now.wholeSeconds))]
        }
        headers += Trace.headers
        let exchange = await http.exchange(
            HTTPRequest(
                method: .post,
                url: url,
                headers: headers,
                body: notification.payload,
                timeout: timeout,
                maxResponseBytes: SinkResult.largestResponseBytes
            )
        )
        return SinkResult(exchange, at: time.now)
    }
}
