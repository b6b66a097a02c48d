public import StarwatchCore

/// A request of a host application's own: what to ask, how to understand the answer, and how often to try.
///
/// The manager knows nothing of what is polled for; everything that is particular is in here. `Never` as the
/// `Request` is a request without a body:
///
/// ```swift
/// let request = PollRequest<Never, Feed>(endpoint: "/releases.json", schema: ResponseSchema())
/// ```
public struct PollRequest<Request: Encodable & Sendable, Response: Decodable & Sendable>: Sendable {
    /// The path below ``PollingContext/server``, beginning with `/`.
    public var endpoint: String
    /// By default `get`.
    public var method: PollMethod
    /// Sent before those the manager adds, which win over the same names. Empty by default.
    public var headers: [String: String] = [:]
    /// Names and values of the query, before percent-encoding; asked for whenever the request is sent, so that nothing
    /// in it is older than the request (C-111). Without one by default.
    public var query: @Sendable (PollingContext) async throws -> [(name: String, value: String)] = { _ in [] }
    /// The body of a POST or PUT, asked for whenever the request, or a page of it, is sent. `Data` goes as it is,
    /// everything else as JSON. Without one by default; `get` and `delete` never have one.
    public var body: (@Sendable (PollingContext) async throws -> Request)?
    /// `X-Idempotency-Key`, the same for every try. `nil`, the default: one is made for each POST.
    public var idempotencyKey: String?
    /// What the answer has to be.
    public var schema: ResponseSchema<Response>
    /// What becomes of an answer that is valid. By default it stays as it is.
    public var transform: @Sendable (Response) throws -> Response = { $0 }
    /// In place of the policy of each class of failures (see `RetryPolicy.standard(for:)`). What cannot help is not
    /// tried again whatever it says, and no try is made before the server wants one. `nil`, the default: the manager's.
    public var retry: RetryPolicy?
    /// The limit of one try, its answer's body included. By default 30 s.
    public var timeout: Duration = .seconds(30)
    /// The largest answer, after decompression. By default 10 MiB.
    public var maxResponseBytes = 10 * 1_048_576
    /// Whose token it carries. By default the context's.
    public var authorization = PollAuthorization.context
    /// Whether to send the `ETag` or `Last-Modified` of the answer before, so that the server may say 304. For `get`
    /// only. By default `false`.
    public var isConditional = false

    public init(endpoint: String, method: PollMethod = .get, schema: ResponseSchema<Response> = ResponseSchema()) {
        self.endpoint = endpoint
        self.method = method
        self.schema = schema
    }
}

/// How a request is sent.
public enum PollMethod: String, Sendable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case delete = "DELETE"
}

/// Whose token a request carries.
public enum PollAuthorization: Sendable {
    /// The context's. Where there is none to be had, nothing is sent.
    case context
    /// The context's, and none where there is none to be had (C-124). For `get` only.
    case contextOrAnonymous
    /// None.
    case anonymous
    /// These in place of the context's.
    case tokens(PollTokens)
}
