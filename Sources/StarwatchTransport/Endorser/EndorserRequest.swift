package import StarwatchCore

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
    /// The value of `X-Idempotency-Key` of a POST, the same for every attempt of the request (R-IDM-02).
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
        self.query = query
        self.body = body
        self.token = token
        self.requestID = requestID
        self.idempotencyKey = idempotencyKey
        self.traceHeaders = traceHeaders
    }
}
