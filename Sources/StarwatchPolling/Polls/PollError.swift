public import StarwatchCore
import StarwatchStore

/// Why a poll failed. The message is a fixed sentence without personal data.
public struct PollError: Error, Sendable, CustomStringConvertible {
    /// What happened, in a word. Hosts may add codes of their own in ``ResponseSchema/transformError``.
    public struct Code: RawRepresentable, Sendable, Hashable, Codable {
        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }

        /// The request cannot be sent as it is.
        public static let invalidRequest = Code(rawValue: "INVALID_REQUEST")
        /// Something failed that has no code of its own, such as the making of a body.
        public static let execution = Code(rawValue: "EXECUTION_ERROR")
        /// The server, or our own limit, asks for a wait that is too long to sit out.
        public static let rateLimitExceeded = Code(rawValue: "RATE_LIMIT_EXCEEDED")
        /// The answer is not what the schema says.
        public static let validation = Code(rawValue: "VALIDATION_ERROR")
        /// No connection, or it broke.
        public static let network = Code(rawValue: "NETWORK_ERROR")
        /// No complete answer in time.
        public static let timeout = Code(rawValue: "TIMEOUT")
        /// The server failed (5xx).
        public static let server = Code(rawValue: "SERVER_ERROR")
        /// The server does not accept the token, nor a new one.
        public static let unauthorized = Code(rawValue: "UNAUTHORIZED")
        /// There is no token to send.
        public static let noToken = Code(rawValue: "NO_TOKEN")
        /// The server refuses the request, and would refuse it again.
        public static let refused = Code(rawValue: "REQUEST_REFUSED")
        /// The server failed so often that it is left alone for a while.
        public static let circuitOpen = Code(rawValue: "CIRCUIT_OPEN")
        /// The task was cancelled, or the schedule.
        public static let cancelled = Code(rawValue: "CANCELLED")
        /// The database, or another setting of a manager, cannot be used.
        public static let configuration = Code(rawValue: "INVALID_CONFIGURATION")
        /// A schedule cannot be made.
        public static let schedule = Code(rawValue: "SCHEDULE_ERROR")
    }

    public var code: Code
    public var message: String
    /// Whether the same request may succeed later.
    public var isRetryable: Bool
    /// How long to wait before that; `nil`: nobody said.
    public var retryAfter: Duration?
    /// The answer's status; `nil` when there was no answer.
    public var status: Int?
    /// What is wrong with an answer that was refused, each with its path.
    public var issues: [ValidationIssue] = []
    /// What a closure of the host's threw, or the database; `nil` when none did.
    public var underlying: (any Error)?

    public init(_ code: Code, _ message: String, isRetryable: Bool, retryAfter: Duration? = nil) {
        self.code = code
        self.message = message
        self.isRetryable = isRetryable
        self.retryAfter = retryAfter
    }

    public var description: String { "\(code.rawValue): \(message)" }
}

extension PollError: Encodable {
    enum CodingKeys: String, CodingKey {
        case code, message, details, retryable, retryAfter
    }

    /// `retryAfter` is whole seconds, rounded up (C-071); `details` are the issues.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(code.rawValue, forKey: .code)
        try container.encode(message, forKey: .message)
        if !issues.isEmpty { try container.encode(issues.map(\.description), forKey: .details) }
        try container.encode(isRetryable, forKey: .retryable)
        try container.encodeIfPresent(retryAfter.map { ($0.wholeMilliseconds + 999) / 1000 }, forKey: .retryAfter)
    }
}

extension PollError {
    /// The database failed, without which nothing goes: it holds what was spent of the limits, and for how long to wait.
    init(_ error: StoreError) {
        self.init(
            .execution,
            "The database could not say what the server allows, or keep it.",
            isRetryable: true,
            retryAfter: ExtraRun.afterStoreFailure
        )
        underlying = error
    }

    /// A failed request, by its class (C-073).
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

    /// A closure of the host's that threw.
    static func host(_ what: String, _ error: any Error) -> PollError {
        if let error = error as? PollError { return error }
        var failure = PollError(.execution, "\(what) failed.", isRetryable: true)
        failure.underlying = error
        return failure
    }

    static let cancelled = PollError(APIFailure.cancelled)
}
