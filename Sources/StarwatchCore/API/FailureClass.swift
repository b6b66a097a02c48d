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
