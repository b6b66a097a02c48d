public import StarwatchCore

/// A host application's request: its content, the checks of its answer, and its retries.
///
/// The manager knows nothing about the subject of a poll; the request describes all of it. `Never` as the `Request`
/// means a request without a body:
///
/// ```swift
/// let request = PollRequest<Never, Feed>(endpoint: "/releases.json", schema: ResponseSchema())
/// ```
public struct PollRequest<Request: Encodable & Sendable, Response: Decodable & Sendable>: Sendable {
    /// The path below ``PollingContext/server``, beginning with `/`.
    public var endpoint: String
    /// The HTTP method. By default `get`.
    public var method: PollMethod
    /// Headers sent before those of the manager, which take precedence. Empty by default.
    public var headers: [String: String] = [:]
    /// Names and values of the query, before percent-encoding. The manager calls it for every send, so its values are
    /// never older than the request. Without a query by default.
    public var query: @Sendable (PollingContext) async throws -> [(name: String, value: String)] = { _ in [] }
    /// The body of a POST or PUT. The manager calls it for every send and every page. `Data` is sent unchanged,
    /// everything else as JSON. Without a body by default; `get` and `delete` never have one.
    public var body: (@Sendable (PollingContext) async throws -> Request)?
    /// `X-Idempotency-Key`, the same for every attempt. `nil`, the default: the manager generates one for each POST.
    public var idempotencyKey: String?
    /// The expected answer.
    public var schema: ResponseSchema<Response>
    /// Transformation of a valid answer. By default it stays unchanged.
    public var transform: @Sendable (Response) throws -> Response = { $0 }
    /// A retry policy that replaces the policy of each failure class (see `RetryPolicy.standard(for:)`). The manager
    /// never retries a failure that a retry cannot fix, and never sends before the server allows. `nil`, the default:
    /// the manager's policy.
    public var retry: RetryPolicy?
    /// The timeout of one attempt, including the response body. By default 30 s.
    public var timeout: Duration = .seconds(30)
    /// The maximum size of a response after decompression. By default 10 MiB.
    public var maxResponseBytes = 10 * 1_048_576
    /// Source of the request's token. By default the context.
    public var authorization = PollAuthorization.context
    /// Whether to send the `ETag` or `Last-Modified` of the previous answer, so the server can answer 304. For `get`
    /// only. By default `false`.
    public var isConditional = false

    public init(endpoint: String, method: PollMethod = .get, schema: ResponseSchema<Response> = ResponseSchema()) {
        self.endpoint = endpoint
        self.method = method
        self.schema = schema
    }
}

/// HTTP method of a request.
public enum PollMethod: String, Sendable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
}

/// Source of a request's token.
public enum PollAuthorization: Sendable {
    /// The context's tokens. Without a token, nothing is sent.
    case context
    /// The context's tokens. Without a token, the request is sent without one. For `get` only.
    case contextOrAnonymous
    /// No token.
    case anonymous
    /// These tokens instead of the context's.
    case tokens(PollTokens)
}
