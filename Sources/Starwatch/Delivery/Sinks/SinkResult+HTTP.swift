import StarwatchCore
import StarwatchTransport

extension SinkResult {
    /// Maximum response size. No receiver needs more.
    static let largestResponseBytes = 65_536
    /// Maximum accepted `Retry-After`. A longer value is a mistake and is ignored.
    private static let longestRetryAfter = Duration.seconds(7 * 86_400)

    /// The meaning of an HTTP sink's response (semantics: dispatch).
    ///
    /// - Parameter wait: Reads the wait that an answer without `Retry-After` asks for.
    init(
        _ exchange: HTTPExchange,
        at now: Timestamp,
        wait: (HTTPResponse) -> Duration? = { _ in nil }
    ) {
        switch exchange.result {
        case .failure(.timeout): self = .timeout
        // The response body was too long, but its status arrived before it.
        case .failure(.tooLarge) where exchange.status != nil:
            let response = HTTPResponse(status: exchange.status ?? 0, headers: HTTPHeaders(block: []), body: [])
            self.init(response, at: now, wait: wait)
        case .failure(let error):
            self = .unavailable(SinkFailure("The sink cannot be reached (\(error.cause.phrase)).", error.cause))
        case .success(let response):
            self.init(response, at: now, wait: wait)
            said = response.body
        }
    }

    /// The meaning of an answer that refuses parts of the sink's address.
    ///
    /// A wrong address, receiver or token is no fault of the notification, which waits as one does whose mail server refuses
    /// the login. It concerns one of many accounts alone if that account brought one of these parts.
    init(
        _ exchange: HTTPExchange,
        refusing parts: [SinkAddress.Part],
        brought: [SinkAddress.Part],
        _ sentence: String
    ) {
        self = .unavailable(SinkFailure(sentence, FailureReason(status: exchange.answeredStatus)))
        said = (try? exchange.result.get())?.body ?? []
        isOfReceiver = parts.contains { brought.contains($0) }
    }

    private init(_ response: HTTPResponse, at now: Timestamp, wait: (HTTPResponse) -> Duration?) {
        let reason = FailureReason(status: response.status)
        self =
            switch response.status {
            case 200...299: .ok
            case 408: .timeout
            case 410: .gone
            case 425, 429, 500...599:
                .unavailable(
                    SinkFailure("The sink answered that it is not available (\(reason.phrase)).", reason),
                    retryAfter: Self.retryAfter(of: response, at: now, else: wait)
                )
            default: .rejected(SinkFailure("The sink refused the notification (\(reason.phrase)).", reason))
            }
    }

    private static func retryAfter(
        of response: HTTPResponse,
        at now: Timestamp,
        else other: (HTTPResponse) -> Duration?
    ) -> Duration? {
        let wait = response.headers["retry-after"].flatMap {
            RetryAfter.parse(
                $0,
                answerDate: response.headers["date"].flatMap { HTTPDate.parse($0, now: now) },
                now: now
            )
        }
        return (wait ?? other(response)).flatMap { $0 <= longestRetryAfter ? $0 : nil }
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

extension HTTPExchange {
    /// The status of the answer, also of one whose body was too long; 0 without an answer.
    var answeredStatus: Int { (try? result.get())?.status ?? status ?? 0 }
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
