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

    public init(
        result: RequestResult,
        failureClass: FailureClass,
        status: Int? = nil,
        retryAfter: Duration? = nil,
        reason: String
    ) {
        self.result = result
        self.failureClass = failureClass
        self.status = status
        self.retryAfter = retryAfter
        self.reason = reason
    }
}
