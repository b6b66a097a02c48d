import StarwatchCore
import StarwatchTransport

extension SinkResult {
    /// Maximum response size. No receiver needs more.
    static let largestResponseBytes = 65_536
    /// Maximum accepted `Retry-After`. A longer value is a mistake and is ignored.
    private static let longestRetryAfter = Duration.seconds(7 * 86_400)

    /// The meaning of an HTTP sink's response (semantics: dispatch).
    ///
    /// - Parameter wait: The wait that an answer without `Retry-After` asks for in another way.
    init(_ exchange: HTTPExchange, at now: Timestamp, wait: Duration? = nil) {
        switch exchange.result {
        case .failure(.timeout): self = .timeout
        // The response body was too long, but its status arrived before it.
        case .failure(.tooLarge) where exchange.status != nil:
            let response = HTTPResponse(status: exchange.status ?? 0, headers: HTTPHeaders(block: []), body: [])
            self.init(response, at: now, wait: nil)
        case .failure(let error):
            self = .unavailable(SinkFailure("The sink cannot be reached (\(error.cause.phrase)).", error.cause))
        case .success(let response):
            self.init(response, at: now, wait: wait)
            said = response.body
        }
    }

    private init(_ response: HTTPResponse, at now: Timestamp, wait: Duration?) {
        let reason = FailureReason(status: response.status)
        self =
            switch response.status {
            case 200...299: .ok
            case 408: .timeout
            case 410: .gone
            case 425, 429, 500...599:
                .unavailable(
                    SinkFailure("The sink answered that it is not available (\(reason.phrase)).", reason),
                    retryAfter: (Self.retryAfter(of: response, at: now) ?? wait).flatMap {
                        $0 <= Self.longestRetryAfter ? $0 : nil
                    }
                )
            default: .rejected(SinkFailure("The sink refused the notification (\(reason.phrase)).", reason))
            }
    }

    private static func retryAfter(of response: HTTPResponse, at now: Timestamp) -> Duration? {
        let date = response.headers["date"].flatMap { HTTPDate.parse($0, now: now) }
        return response.headers["retry-after"].flatMap { RetryAfter.parse($0, answerDate: date, now: now) }
    }
}

extension SinkResult {
    /// Whether the answer is one of a host that does not work.
    var isServerError: Bool { failure?.reason.status.map { $0 >= 500 } ?? false }
}

extension SinkAddress.Part {
    /// The parts of an address that a service refuses by a status; empty if the status is not about the address.
    ///
    /// - Parameter access: The parts that give access beside the URL: the receiver, and the secret.
    static func refused(by status: Int, of access: [SinkAddress.Part]) -> [SinkAddress.Part] {
        switch status {
        case 401: access.contains(.secret) ? [.secret] : [.url]
        // The receiver does not take what this secret sends, so either can be wrong.
        case 403: access.isEmpty ? [.url] : access
        // An address that has moved, or is that of a page. Requests follow no redirect, because they have the token.
        case 300..<400, 404, 405: [.url]
        default: []
        }
    }
}

extension SinkOptions {
    /// The options of a sink's own client; `nil` if it can use that of the agent.
    ///
    /// - Throws: ``AgentError`` if the login of its proxy cannot be used.
    func trust(_ secrets: SecretFiles) throws(AgentError) -> HTTPClientOptions? {
        var options = HTTPClientOptions(caFile: self["ca_file"]?.text)
        configured?.adapt(&options)
        if isOfAccounts { options.maxInFlight = DeliverySlots.most }
        let proxy = self["proxy"]?.text
        guard kind.type.sendsRequests, options.caFile != nil || proxy != nil || options.isForMails else { return nil }
        options.proxy = proxy
        options.proxyLogin = try secrets.proxyLogin(self["proxy_login_file"]?.text, of: "delivery.sinks.\(name)")
        options.caSetting = "delivery.sinks.\(name).ca_file"
        return options
    }
}
