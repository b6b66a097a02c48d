/// A request that did not bring what was asked for.
///
/// Holds nothing from the server's text: that may carry tokens and identifiers.
public struct APIFailure: Error, Sendable, Hashable {
    public let result: RequestResult
    public let failureClass: FailureClass
    /// The HTTP status; `nil` when there was no answer.
    public let status: Int?
    /// How long the server asked to wait, counted from the end of the answer; `nil` when it did not ask.
    public let retryAfter: Duration?
    /// One fixed sentence that says what happened, safe to log and show.
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
