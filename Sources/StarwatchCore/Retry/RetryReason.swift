/// The reason for a retry; the `reason` label of the retry metrics.
public enum RetryReason: String, Sendable, CaseIterable {
    case network
    case timeout
    case rateLimited = "rate_limited"
    case unavailable
    case serverError = "server_error"
    case unauthenticated

    /// `nil` for failures that are never retried.
    public init?(_ failure: FailureClass) {
        switch failure {
        case .network: self = .network
        case .timeout: self = .timeout
        case .rateLimited: self = .rateLimited
        case .unavailable: self = .unavailable
        case .serverError: self = .serverError
        case .unauthenticated: self = .unauthenticated
        case .malformed, .refused, .cancelled: return nil
        }
    }
}
