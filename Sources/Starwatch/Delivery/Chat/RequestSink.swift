package import StarwatchCore
import StarwatchTransport

/// Sends each notification in a request, in the format of a service.
package struct RequestSink: NotificationSink {
    package let name: String
    let format: SinkFormat
    /// Empty if each account brings it.
    var url = ""
    /// The file that has the URL in place of ``url``.
    var urlFile: SecretFile?
    /// The receiver at the service.
    var room = ""
    /// The topic in the room; `nil` for none.
    var topic: Int?
    /// The token, or the signing key. During a rotation it has several keys, one per line, and every request is signed with
    /// each key.
    var secret: SinkSecret?
    var timeout = Duration.seconds(30)
    let http: any HTTPTransport
    let time: any TimeSource
    /// The texts beside a notification's own.
    var catalogues = MessageCatalogues.builtIn
    /// Parts of the address that the account brought; all others share the rest.
    private(set) var brought: [SinkAddress.Part] = []
    /// The account; `nil` before ``sink(of:at:)``.
    private var account: DID?

    init(name: String, format: SinkFormat, http: any HTTPTransport, time: any TimeSource) {
        (self.name, self.format, self.http, self.time) = (name, format, http, time)
    }

    package var takesBack: Bool { format.takesBack }

    package func deliver(_ notification: OutgoingNotification) async -> SinkResult {
        let url: String
        let request: ServiceRequest
        do throws(SinkFailure) {
            let key = try? secret?.read()
            if secret != nil, key == nil { throw format.unusable }
            var draft = SinkFormat.Draft(notification: notification, room: room, topic: topic, secret: key)
            (draft.account, draft.catalogues, draft.now) = (account, catalogues, time.now)
            url = try presentURL()
            request = try format.request(draft)
        } catch { return .unavailable(error) }
        let headers: [(name: String, value: String)] = [
            ("Content-Type", "application/json"), ("User-Agent", AgentVersion.userAgent),
        ]
        let exchange = await http.exchange(
            HTTPRequest(
                method: request.method,
                url: request.url(at: url),
                headers: headers + request.headers,
                body: request.body,
                timeout: timeout,
                maxResponseBytes: SinkResult.largestResponseBytes
            )
        )
        return format.result(exchange, brought: brought, at: time.now)
    }

    package var host: String { SinkAddress.host(ofURL: url) }

    package var secrets: [String] {
        // The words of the service's own path are in its answers.
        SinkAddress.secrets(ofURL: (try? presentURL()) ?? "").filter { format.path?.contains($0) != true }
            + [room] + (secret?.words ?? []) + format.literals
    }

    private func presentURL() throws(SinkFailure) -> String {
        guard let urlFile else { return url }
        return try format.address(in: urlFile)
    }

    package func sink(of account: DID, at address: SinkAddress) -> RequestSink {
        var sink = self
        (sink.account, sink.brought) = (account, address.parts)
        if let url = address[.url] { sink.url = url }
        if let room = address[.room] {
            (sink.room, sink.topic) = (room, address[.topic].flatMap { Int($0) })
        } else if let topic = address[.topic] {
            sink.room = topic
        }
        if let secret = address[.secret] { sink.secret = .value(secret) }
        // A token that neither has is missing at the account, not at the others.
        if sink.secret == nil, !sink.brought.isEmpty { sink.brought.append(.secret) }
        return sink
    }
}

/// A kind whose sinks send requests in a format.
package protocol RequestKind: ConfiguredSink {
    static func format(of sink: SinkOptions) -> SinkFormat
}

extension RequestKind {
    package static func make(_ sink: SinkOptions, by factory: SinkFactory) throws(AgentError) -> any NotificationSink {
        let http = try factory.client(of: sink)
        var made = RequestSink(name: sink.name, format: format(of: sink), http: http, time: factory.time)
        made.url = sink["url"]?.text ?? ""
        made.urlFile = try factory.file("url_file", of: sink)
        (made.room, made.topic) = ((sink["room"] ?? sink["topic"])?.text ?? "", sink["topic"]?.number)
        let key = try factory.file("secret_file", of: sink) {
            WebhookSigner(file: $0) == nil
                ? "must hold the secret's bytes, or lines of whsec_ and then a secret in base64." : nil
        }
        let token = try factory.file("token_file", of: sink)
        made.secret = (key ?? token).map { .file($0) }
        if let timeout = sink["timeout"]?.time { made.timeout = timeout }
        made.catalogues = factory.delivery.catalogues
        return made
    }

    package static func address(of sink: SinkOptions) throws(SinkFailure) -> String? {
        guard let path = sink["url_file"]?.text else { return sink["url"]?.text }
        let file = SecretFile(path: path, setting: "delivery.sinks.\(sink.name).url_file", holding: .line)
        return try format(of: sink).address(in: file)
    }
}
