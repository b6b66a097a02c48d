package import StarwatchCore

/// Sends requests to one Endorser server, with the headers it requires, and classifies the responses.
///
/// It does not retry, wait or decode: one call is one request.
package struct EndorserClient: Sendable {
    package let http: any HTTPTransport
    private let baseURL: String
    /// The value of `X-Client-Version`.
    package let clientVersion: String
    private let userAgent: String
    private let timeout: Duration
    private let maxResponseBytes: Int

    /// - Parameters:
    ///   - baseURL: Scheme, host, port and optionally a path; trailing slashes are removed.
    ///   - clientVersion: The value of `X-Client-Version` (R-REQ-02).
    ///   - userAgent: The value of `User-Agent`; `nil` for `clientVersion`.
    ///   - timeout: The limit from the call to the last byte of the response; 30 s.
    ///   - maxResponseBytes: The limit of the decompressed body; 10 MiB.
    package init(
        http: any HTTPTransport,
        baseURL: String,
        clientVersion: String,
        userAgent: String? = nil,
        timeout: Duration = .seconds(30),
        maxResponseBytes: Int = 10 * 1024 * 1024
    ) {
        self.http = http
        var baseURL = baseURL[...]
        while baseURL.last == "/" { baseURL.removeLast() }
        self.baseURL = String(baseURL)
        self.clientVersion = clientVersion
        self.userAgent = userAgent ?? clientVersion
        self.timeout = timeout
        self.maxResponseBytes = maxResponseBytes
    }

    /// Sends `request` once and returns its result. Cancelling the task aborts the request with the failure
    /// `cancelled`.
    ///
    /// - Parameter check: Returns the failure that a successful answer is; `nil` when it is none.
    package func send(
        _ request: EndorserRequest,
        check: @escaping @Sendable (HTTPResponse) -> APIFailure? = { _ in nil }
    ) async -> Exchange {
        let exchange = await http.exchange(makeRequest(request))
        let now = exchange.measurements.receivedAt.wall
        let classify = { @Sendable in Exchange(exchange) { AnswerClassifier.classify($0, now: now) ?? check($0) } }
        guard case .success(let response) = exchange.result, response.body.count >= Offload.longAnswer else {
            return classify()
        }
        return await Offload.run { classify() }
    }

    private func makeRequest(_ request: EndorserRequest) -> HTTPRequest {
        var headers: [(name: String, value: String)] = []
        headers.reserveCapacity(7)
        headers.append(("User-Agent", userAgent))
        headers.append(("Accept", "application/json"))
        if let token = request.token {
            // The endorser server ignores the token under any other spelling of "Bearer".
            headers.append(("Authorization", "Bearer " + token.rawValue))
        }
        headers.append(("X-Request-ID", request.requestID))
        headers.append(("X-Client-Version", clientVersion))
        if request.method == .post {
            headers.append(("Content-Type", "application/json"))
            if let key = request.idempotencyKey { headers.append(("X-Idempotency-Key", key)) }
        }
        headers += request.traceHeaders
        return HTTPRequest(
            method: request.method,
            url: url(of: request),
            headers: headers,
            body: request.body,
            timeout: timeout,
            maxResponseBytes: maxResponseBytes
        )
    }

    private func url(of request: EndorserRequest) -> String {
        var url = baseURL + request.endpoint.path
        for (index, item) in request.query.enumerated() {
            url += index == 0 ? "?" : "&"
            url += PercentEncoding.encode(item.0) + "=" + PercentEncoding.encode(item.1)
        }
        return url
    }
}
