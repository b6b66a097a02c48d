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
    /// The faults of an answer that cannot be read; empty for any other failure.
    public let issues: [ValidationIssue]
    /// The cause of a failure whose status says success; `nil` for any other.
    private let ownCause: FailureReason.Cause?

    /// - Parameter cause: The cause where neither the status nor the result tells it.
    public init(
        result: RequestResult,
        failureClass: FailureClass,
        status: Int? = nil,
        retryAfter: Duration? = nil,
        reason: String,
        detail: ServerErrorDetail = ServerErrorDetail(),
        cause: FailureReason.Cause? = nil
    ) {
        self.result = result
        self.failureClass = failureClass
        self.status = status
        self.retryAfter = retryAfter
        self.reason = reason
        self.detail = detail
        issues = result == .malformed ? [ValidationIssue(path: "$", problem: .invalid)] : []
        ownCause = cause
    }

    /// The reason from a closed set.
    public var cause: FailureReason {
        if let ownCause { return FailureReason(ownCause) }
        // A success that is a failure has another reason than its status.
        if let status, !(200..<300).contains(status) { return FailureReason(status: status, detail: detail) }
        return switch result {
        case .timeout: FailureReason(.timeout)
        case .dns: FailureReason(.dns)
        case .connect: FailureReason(.connect)
        case .tls: FailureReason(.tls)
        case .reset: FailureReason(.reset)
        case .tooLarge: FailureReason(.tooLarge)
        case .cancelled: FailureReason(.cancelled)
        case .badRequest: FailureReason(.invalidRequest)
        case .ok, .notModified, .unauthenticated, .forbidden, .notFound, .rateLimited, .serverError, .malformed:
            FailureReason(.malformed)
        }
    }
}
