package import StarwatchCore

/// Sends requests to one Endorser server, with the headers it requires.
///
/// It does not retry, wait or read the answer: one call is one request.
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
    ///   - clientVersion: The value of `X-Client-Version`.
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

    /// Sends `request` once. Cancelling the task aborts it with the failure `cancelled`.
    package func send(_ request: EndorserRequest) async -> HTTPExchange {
        await http.exchange(message(of: request))
    }

    private func message(of request: EndorserRequest) -> HTTPRequest {
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

/// One request to an Endorser server.
package struct EndorserRequest: Sendable {
    package var endpoint: Endpoint
    package var method: HTTPRequest.Method
    /// Query names and values, before percent-encoding.
    package var query: [(String, String)]
    /// The JSON body; sent with POST only.
    package var body: [UInt8]?
    /// `nil` sends the request without a token.
    package var token: AccessToken?
    /// The value of `X-Request-ID`, by default a random UUID. Every attempt needs another.
    package var requestID: String
    /// The value of `X-Idempotency-Key` of a POST, the same for every attempt of the request.
    package var idempotencyKey: String?
    /// Headers of the tracer, sent after all others.
    package var traceHeaders: [(name: String, value: String)]

    /// Creates a request. Without a `method`, it is a POST if there is a body, else a GET.
    package init(
        endpoint: Endpoint,
        method: HTTPRequest.Method? = nil,
        query: [(String, String)] = [],
        body: [UInt8]? = nil,
        token: AccessToken? = nil,
        requestID: String = RandomID.uuid(),
        idempotencyKey: String? = nil,
        traceHeaders: [(name: String, value: String)] = []
    ) {
        self.endpoint = endpoint
        self.method = method ?? (body == nil ? .get : .post)
        (self.query, self.body, self.token, self.requestID) = (query, body, token, requestID)
        (self.idempotencyKey, self.traceHeaders) = (idempotencyKey, traceHeaders)
    }
}
