/// A failed request.
///
/// Contains no text of the server, which can include tokens and identifiers.
public struct APIFailure: Error, Sendable, Hashable {
    public let result: RequestResult
    public let failureClass: FailureClass
    /// The HTTP status; `nil` without an answer.
    public let status: Int?
    /// The wait that the server asked for, counted from the end of the answer; `nil` if it asked for none.
    public let retryAfter: Duration?
    /// One fixed sentence about the failure, safe to log and show.
    public let reason: String
    /// The server's words in its error response.
    public let detail: ServerErrorDetail
    /// The server's time in its error response; `nil` if it says none. The clock of its tokens can differ from that of `Date`.
    public let serverTime: Timestamp?
    /// The faults of an answer that cannot be read; empty for any other failure.
    public let issues: [ValidationIssue]
    /// The cause of a failure whose status says success, or that has none; `nil` if the status or the result tells it.
    private let ownCause: FailureReason.Cause?

    public init(
        result: RequestResult,
        failureClass: FailureClass,
        status: Int? = nil,
        retryAfter: Duration? = nil,
        reason: String,
        detail: ServerErrorDetail = ServerErrorDetail(),
        serverTime: Timestamp? = nil,
        cause: FailureReason.Cause? = nil
    ) {
        (self.result, self.failureClass, self.status) = (result, failureClass, status)
        (self.retryAfter, self.reason, self.detail, self.serverTime) = (retryAfter, reason, detail, serverTime)
        issues = result == .malformed ? [ValidationIssue(path: "$", problem: .invalid)] : []
        ownCause = cause
    }

    /// A request without a complete answer, or one whose answer cannot be read.
    ///
    /// - Parameters:
    ///   - failureClass: The class; `nil` for the cause's own.
    ///   - sentence: The sentence; `nil` for the cause's own.
    package init(
        _ cause: FailureReason.Cause,
        status: Int? = nil,
        failureClass: FailureClass? = nil,
        _ sentence: String? = nil
    ) {
        self.init(
            result: cause.result,
            failureClass: failureClass ?? cause.failureClass,
            status: status,
            reason: sentence ?? cause.sentence,
            cause: cause
        )
    }

    /// The reason from a closed set.
    public var cause: FailureReason {
        if let ownCause { return FailureReason(ownCause) }
        // A success that is a failure has another reason than its status.
        if let status, !(200..<300).contains(status) { return FailureReason(status: status, detail: detail) }
        return FailureReason(FailureReason.Cause(rawValue: result.rawValue) ?? .malformed)
    }
}

/// The failures of requests without a complete answer, each with the meaning of its cause.
extension APIFailure {
    package static let timeout = APIFailure(.timeout)
    package static let dns = APIFailure(.dns)
    package static let connect = APIFailure(.connect)
    package static let proxy = APIFailure(.proxy)
    package static let tls = APIFailure(.tls)
    package static let expired = APIFailure(.certificateExpired)
    package static let reset = APIFailure(.reset)
    package static let tooLarge = APIFailure(.tooLarge)
    package static let cancelled = APIFailure(.cancelled)
    package static let malformed = APIFailure(.malformed)
    package static let invalidRequest = APIFailure(.invalidRequest)
}

extension APIFailure: CustomStringConvertible {
    public var description: String { reason }
}

extension FailureReason.Cause {
    /// The value of the metrics' `result` label: the word of the cause, or that of a wider one.
    fileprivate var result: RequestResult {
        switch self {
        case .certificateExpired: .tls
        case .proxy: .connect
        case .notJSON, .tooComplex: .malformed
        case .rateLimit: .rateLimited
        case .identityChanged: .cancelled
        default: RequestResult(rawValue: rawValue) ?? .badRequest
        }
    }

    private var isAboutToken: Bool { label == .noToken }

    fileprivate var failureClass: FailureClass {
        switch self {
        case .timeout: .timeout
        case .dns, .connect, .proxy, .tls, .certificateExpired, .reset: .network
        case .tooLarge, .malformed, .notJSON, .html, .tooComplex, .contract: .malformed
        case .rateLimit: .rateLimited
        case .cancelled, .identityChanged: .cancelled
        default: isAboutToken ? .unauthenticated : .refused
        }
    }
}

/// The class of a failed request, which decides about retries, throttling and the circuit breaker.
public enum FailureClass: String, Sendable, CaseIterable {
    /// No connection: DNS, TLS, a reset, or any other failure below HTTP.
    case network
    /// No complete answer within the time limit, or 408.
    case timeout
    /// 429.
    case rateLimited = "rate_limited"
    /// 503 with `Retry-After`.
    case unavailable
    /// Any other 5xx.
    case serverError = "server_error"
    /// 401, or 400 with the code of a refused token.
    case unauthenticated
    /// The answer breaks the contract or exceeds the size limit.
    case malformed
    /// 400, 403, 404, 409, 413, 415 and 3xx: a retry cannot help.
    case refused
    /// The caller cancelled the request: shutdown or a change of identity.
    case cancelled
}

/// The end of one request; the `result` label of the API metrics.
public enum RequestResult: String, Sendable, CaseIterable {
    case ok
    case notModified = "not_modified"
    case badRequest = "bad_request"
    case unauthenticated
    case forbidden
    case notFound = "not_found"
    /// A redirect, which is not followed.
    case redirected
    case rateLimited = "rate_limited"
    case serverError = "server_error"
    case timeout
    case dns
    case connect
    case tls
    case reset
    case tooLarge = "too_large"
    case malformed
    /// A web page in place of JSON, which is not the server's.
    case html
    case cancelled

    /// Whether the request got the answer that it asked for.
    package var isSuccess: Bool { self == .ok || self == .notModified }

    /// Whether the server or the way to it failed, so that no other request would have done better.
    package var isServerFault: Bool {
        switch self {
        case .redirected, .serverError, .timeout, .dns, .connect, .tls, .reset, .tooLarge, .malformed, .html: true
        case .ok, .notModified, .badRequest, .unauthenticated, .forbidden, .notFound, .rateLimited, .cancelled: false
        }
    }
}

/// A fault in an answer. The path contains only field names and indexes, no values, so it is safe to log.
public struct ValidationIssue: Sendable, Hashable, CustomStringConvertible {
    public enum Fault: String, Sendable, CaseIterable {
        case missing
        case wrongType = "wrong_type"
        case invalid
        /// The bytes are not JSON.
        case unreadable
    }

    /// A JSON path, such as `$.data[3].plan.jwtId`.
    public let path: String
    public let problem: Fault

    public init(path: String, problem: Fault) {
        self.path = path
        self.problem = problem
    }

    public var description: String { "\(path): \(problem.rawValue)" }
}
