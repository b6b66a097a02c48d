package import StarwatchCore

/// One request to an Endorser server.
package struct EndorserRequest: Sendable {
    package var endpoint: Endpoint
    package var method: HTTPRequest.Method
    /// Names and values before percent-encoding.
    package var query: [(String, String)]
    /// JSON; sent with POST only.
    package var body: [UInt8]?
    /// `nil` asks without one.
    package var token: AccessToken?
    /// `X-Request-ID`: another for every try.
    package var requestID: String
    /// `X-Idempotency-Key` of a POST: the same for every try of the identical request (R-IDM-02).
    package var idempotencyKey: String?
    /// What a tracer adds, after all others.
    package var traceHeaders: [(name: String, value: String)]

    /// Creates a request; the method is POST when there is a body.
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
