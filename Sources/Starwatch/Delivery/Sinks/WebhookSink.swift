package import StarwatchCore
import StarwatchTransport

/// Posts each notification to a URL, according to the Standard Webhooks specification.
///
/// `webhook-id` is the notification's id and is the same for every retry. A receiver that stores ids therefore sees
/// each notification once.
package struct WebhookSink: AddressedSink {
    package let name: String
    /// A body without the field would tell of the end of a notice as of another one.
    package var takesBack: Bool { template?.tellsOfWithdrawals ?? true }
    /// Empty if each account brings it.
    var url: String
    /// The file that has the URL in place of ``url``.
    var urlFile: SecretFile?
    let timeout: Duration
    let http: any HTTPTransport
    let time: any TimeSource
    /// The signing key; `nil` omits `webhook-signature`. During a rotation it has several keys, one per line, and every
    /// request is signed with each key.
    var secret: SinkSecret?
    /// Whether the notification has the DID of its account.
    var includesAccount = false
    /// The body in place of the notification's JSON; `nil` for that one.
    var template: BodyTemplate?
    /// The account; `nil` before ``sink(of:at:)``.
    private(set) var account: DID?

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        let url: String
        do throws(SinkFailure) { url = try presentURL() } catch { return .unavailable(error) }
        var headers: [(name: String, value: String)] = [
            ("Content-Type", "application/json"), ("User-Agent", AgentVersion.userAgent),
            ("X-Run-ID", notification.runID),
        ]
        let now = time.now
        let body = Self.body(of: notification, account: includesAccount ? account : nil, template: template)
        if let secret {
            guard let key = try? secret.read(), let signer = WebhookSigner(file: key) else {
                return .unavailable(SinkFailure("The sink's secret_file cannot be used.", .tokenFile))
            }
            headers += signer.headers(id: notification.id, timestamp: now, body: body)
        } else {
            headers += [("webhook-id", notification.id), ("webhook-timestamp", String(now.wholeSeconds))]
        }
        headers += Trace.headers
        let exchange = await http.exchange(
            HTTPRequest(
                method: .post,
                url: url,
                headers: headers,
                body: body,
                timeout: timeout,
                maxResponseBytes: SinkResult.largestResponseBytes
            )
        )
        return SinkResult(exchange, at: time.now)
    }

    var secrets: [String] {
        let texts = template?.literals.map(\.trimmingSpaces) ?? []
        return SinkWords.secrets(of: (try? presentURL()) ?? "") + (secret?.words ?? []) + texts
    }

    private func presentURL() throws(SinkFailure) -> String {
        guard let urlFile else { return url }
        return try SinkURL.read(urlFile)
    }

    func sink(of account: DID, at address: SinkAddress) -> WebhookSink {
        var sink = self
        sink.account = account
        if let url = address.url { sink.url = url }
        if let secret = address.secret { sink.secret = .value(secret) }
        return sink
    }

    /// The payload, which is a JSON object, with the DID as its first field; the template filled with both if there is one.
    ///
    /// - Parameter account: The account whose DID the receiver gets; `nil` for none.
    static func body(of notification: OutgoingNotification, account: DID?, template: BodyTemplate?) -> [UInt8] {
        var payload = notification.payload
        if let account, payload.first == UInt8(ascii: "{") {
            let field = Array("{\"\(BodyTemplate.accountDID)\":".utf8) + StableJSON.bytes(of: account.rawValue)
            payload = field + [UInt8(ascii: ",")] + payload.dropFirst()
        }
        return template?.render(payload) ?? payload
    }
}
