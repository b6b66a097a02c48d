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

    /// A request of a path, which begins with `/`; everything else has its default.
    public init(endpoint: String, method: PollMethod = .get, schema: ResponseSchema<Response> = ResponseSchema()) {
        (self.endpoint, self.method, self.schema) = (endpoint, method, schema)
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

/// The expected answer, and the naming of its failures.
///
/// Types come first: an answer that does not decode as a `Response` is rejected, with the path of each field that is
/// missing or of another type. ``check`` then reports other problems.
public struct ResponseSchema<Response: Decodable & Sendable>: Sendable {
    /// Every problem of a decoded answer; empty if it is valid. By default there are none.
    ///
    /// An issue's path names fields and indexes only, such as `$.releases[3].version`, and no values.
    public var check: @Sendable (Response) -> [ValidationIssue] = { _ in [] }
    /// Gives a failed request or a rejected answer the host's own code, message or delay. By default it stays
    /// unchanged.
    public var transformError: @Sendable (PollError) -> PollError = { $0 }

    /// A schema that accepts what the types can decode.
    public init() {}

    /// - Parameter check: See ``check``.
    public init(check: @escaping @Sendable (Response) -> [ValidationIssue]) { self.check = check }
}

/// The account and server of a request. Every run of a schedule gets a new one.
public struct PollingContext: Sendable {
    /// The identity on whose behalf the request is made; `nil` for none.
    public var account: DID?
    /// Scheme, host, port and an optional path, to which endpoints are appended.
    public var server: String
    /// The store of watermarks.
    public var storage: any StorageAdapter
    /// The tokens of requests. By default none.
    public var tokens: PollTokens

    /// A context of a server, without an account and tokens unless they are given.
    public init(
        server: String,
        account: DID? = nil,
        storage: any StorageAdapter = InMemoryStorage(),
        tokens: PollTokens = .none
    ) {
        (self.server, self.account, self.storage, self.tokens) = (server, account, storage, tokens)
    }
}
