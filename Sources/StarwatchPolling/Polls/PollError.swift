public import StarwatchCore
import StarwatchStore

/// Failure of a poll. The message is a fixed sentence without personal data.
public struct PollError: Error, Sendable, CustomStringConvertible {
    /// The error code. Hosts can add their own in ``ResponseSchema/transformError``.
    public struct Code: RawRepresentable, Sendable, Hashable, Codable {
        /// The code as text, in capitals.
        public let rawValue: String

        /// A code of the host's own.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request is invalid.
        public static let invalidRequest = Code(rawValue: "INVALID_REQUEST")
        /// A failure without a specific code, such as an error while the body is made.
        public static let execution = Code(rawValue: "EXECUTION_ERROR")
        /// The wait for the server's or the manager's rate limit is too long.
        public static let rateLimitExceeded = Code(rawValue: "RATE_LIMIT_EXCEEDED")
        /// The answer does not match the schema.
        public static let validation = Code(rawValue: "VALIDATION_ERROR")
        /// The connection failed or broke.
        public static let network = Code(rawValue: "NETWORK_ERROR")
        /// No complete answer before the timeout.
        public static let timeout = Code(rawValue: "TIMEOUT")
        /// The server failed (5xx).
        public static let server = Code(rawValue: "SERVER_ERROR")
        /// The server rejects the token, and a new one too.
        public static let unauthorized = Code(rawValue: "UNAUTHORIZED")
        /// There is no token to send.
        public static let noToken = Code(rawValue: "NO_TOKEN")
        /// The server rejects the request; a retry would not help.
        public static let refused = Code(rawValue: "REQUEST_REFUSED")
        /// The circuit is open after repeated failures of the server.
        public static let circuitOpen = Code(rawValue: "CIRCUIT_OPEN")
        /// The task or the schedule was cancelled.
        public static let cancelled = Code(rawValue: "CANCELLED")
        /// The database, or another setting of a manager, is unusable.
        public static let configuration = Code(rawValue: "INVALID_CONFIGURATION")
        /// The schedule is invalid.
        public static let schedule = Code(rawValue: "SCHEDULE_ERROR")
    }

    /// The cause, for programs.
    public var code: Code
    /// The cause, for people.
    public var message: String
    /// `true` if the same request can succeed later.
    public var isRetryable: Bool
    /// The wait before a retry; `nil` if it is unknown.
    public var retryAfter: Duration?
    /// The response's status; `nil` without a response.
    public var status: Int?
    /// Problems of a rejected answer, each with its path.
    public var issues: [ValidationIssue] = []
    /// The error that a closure of the host or the database threw; `nil` if none did.
    public var underlying: (any Error)?

    /// An error without a response; set ``status`` and ``issues`` for one with a response.
    public init(_ code: Code, _ message: String, isRetryable: Bool, retryAfter: Duration? = nil) {
        (self.code, self.message, self.isRetryable, self.retryAfter) = (code, message, isRetryable, retryAfter)
    }

    /// The code and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}

extension PollError: Encodable {
    /// `retryAfter` is whole seconds, rounded up; `details` are the issues.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(code.rawValue, forKey: AnyKey("code"))
        try container.encode(message, forKey: AnyKey("message"))
        if !issues.isEmpty { try container.encode(issues.map(\.description), forKey: AnyKey("details")) }
        try container.encode(isRetryable, forKey: AnyKey("retryable"))
        let seconds = retryAfter.map { ($0.wholeMilliseconds + 999) / 1000 }
        try container.encodeIfPresent(seconds, forKey: AnyKey("retryAfter"))
    }
}

extension PollError {
    /// The database failed. No request goes without it, because it stores the rate limits and waits.
    init(_ error: StoreError) {
        self.init(
            .execution,
            "The database could not say what the server allows, or keep it.",
            isRetryable: true,
            retryAfter: ExtraRun.afterStoreFailure
        )
        underlying = error
    }

    /// A failed request, by its class.
    init(_ failure: APIFailure) {
        let code: Code =
            switch failure.failureClass {
            case .network: .network
            case .timeout: .timeout
            case .rateLimited: .rateLimitExceeded
            case .unavailable, .serverError: .server
            case .unauthenticated: .unauthorized
            case .malformed: .validation
            case .refused where failure.status == nil: .invalidRequest
            case .refused: .refused
            case .cancelled: .cancelled
            }
        self.init(
            code,
            failure.reason,
            isRetryable: RetryReason(failure.failureClass) != nil && failure.failureClass != .unauthenticated
                && failure.result != .tooLarge,
            retryAfter: RetryPolicy.serverWait(for: failure)
        )
        status = failure.status
    }

    static func invalid(_ message: String) -> PollError { PollError(.invalidRequest, message, isRetryable: false) }

    /// An error that a closure of the host threw.
    static func host(_ what: String, _ error: any Error) -> PollError {
        if let error = error as? PollError { return error }
        var failure = PollError(.execution, "\(what) failed.", isRetryable: true)
        failure.underlying = error
        return failure
    }

    static let cancelled = PollError(APIFailure.cancelled)
}
