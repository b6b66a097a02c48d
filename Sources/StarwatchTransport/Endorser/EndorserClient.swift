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
    private let headers: [(name: String, value: String)]

    /// - Parameters:
    ///   - baseURL: Scheme, host, port and optionally a path; trailing slashes are removed.
    ///   - clientVersion: The value of `X-Client-Version`.
    ///   - userAgent: The value of `User-Agent`; `nil` for `clientVersion`.
    ///   - timeout: The limit from the call to the last byte of the response; 30 s.
    ///   - maxResponseBytes: The limit of the decompressed body; 10 MiB.
    ///   - headers: Headers beside those of the client, or in their place.
    package init(
        http: any HTTPTransport,
        baseURL: String,
        clientVersion: String,
        userAgent: String? = nil,
        timeout: Duration = .seconds(30),
        maxResponseBytes: Int = 10 * 1024 * 1024,
        headers: [(name: String, value: String)] = []
    ) {
        self.http = http
        var baseURL = baseURL[...]
        while baseURL.last == "/" { baseURL.removeLast() }
        self.baseURL = String(baseURL)
        self.clientVersion = clientVersion
        self.userAgent = userAgent ?? clientVersion
        self.timeout = timeout
        (self.maxResponseBytes, self.headers) = (maxResponseBytes, headers)
    }

    /// Makes one attempt of `request`. Cancelling the task aborts it with the failure `cancelled`.
    ///
    /// - Parameters:
    ///   - token: `nil` sends the request without a token.
    ///   - id: The value of `X-Request-ID`. Every attempt needs another.
    ///   - traceHeaders: Headers of the tracer, sent after all others.
    package func send(
        _ request: EndorserRequest,
        token: AccessToken? = nil,
        id: String,
        traceHeaders: [(name: String, value: String)] = []
    ) async -> HTTPExchange {
        var headers: [(name: String, value: String)] = []
        headers.reserveCapacity(7)
        headers.append(("User-Agent", userAgent))
        headers.append(("Accept", "application/json"))
        if let token {
            // The endorser server ignores the token under any other spelling of "Bearer".
            headers.append(("Authorization", "Bearer " + token.rawValue))
        }
        headers.append(("X-Request-ID", id))
        headers.append(("X-Client-Version", clientVersion))
        if request.method == .post {
            headers.append(("Content-Type", "application/json"))
            if let key = request.idempotencyKey { headers.append(("X-Idempotency-Key", key)) }
        }
        if !self.headers.isEmpty {
            let given = Set(self.headers.map { $0.name.lowercased() })
            headers.removeAll { given.contains($0.name.lowercased()) }
            headers += self.headers
        }
        if let known = request.validators {
            if let etag = known.etag { headers.append(("If-None-Match", etag)) }
            if let date = known.lastModified { headers.append(("If-Modified-Since", date)) }
        }
        headers += traceHeaders
        return await http.exchange(
            HTTPRequest(
                method: request.method,
                url: url(of: request),
                headers: headers,
                body: request.body,
                timeout: timeout,
                maxResponseBytes: maxResponseBytes
            )
        )
    }

    private func url(of request: EndorserRequest) -> String {
        if let url = request.url { return url }
        var url = baseURL + request.endpoint.path
        for (index, item) in request.query.enumerated() {
            url += index == 0 ? "?" : "&"
            url += PercentEncoding.encode(item.0) + "=" + PercentEncoding.encode(item.1)
        }
        return url
    }
}

/// One logical request to an Endorser server, the same in all its attempts.
package struct EndorserRequest: Sendable {
    package var endpoint: Endpoint
    package var method: HTTPRequest.Method
    /// The URL of a list, in place of the server's base URL and ``endpoint``; `nil` for all others.
    package var url: String?
    /// The validators of a conditional request; `nil` for another one.
    package var validators: ListState?
    /// Query names and values, before percent-encoding.
    package var query: [(String, String)] = []
    /// The JSON body; sent with POST only.
    package var body: [UInt8]?
    /// The account; `nil` for a request that carries no token and counts in no account's window.
    package var account: DID?
    package var purpose = TokenPurpose.poll
    package var runID: String
    /// The poll of the cycle that the request belongs to.
    package var poll: PollName?
    /// The value of `X-Idempotency-Key` of a POST; `nil` for GET.
    package var idempotencyKey: String?
    /// The number of identifiers that it acknowledges, which have their own limit.
    package var identifiers = 0
    package var retries = RequestRetries.policy(nil)

    package init(_ endpoint: Endpoint, _ method: HTTPRequest.Method = .get, of account: DID?, runID: String) {
        (self.endpoint, self.method, self.account, self.runID) = (endpoint, method, account, runID)
    }
}
