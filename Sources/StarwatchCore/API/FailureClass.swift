/// What a failed request is, for the purpose of trying it again (semantics: retry, throttle, circuit).
public enum FailureClass: String, Sendable, CaseIterable {
    /// No connection, DNS, TLS, a reset, and every other failure below HTTP.
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
    /// The answer is not what the contract says, or larger than the limit.
    case malformed
    /// 400, 403, 404, 409, 413, 415 and 3xx: asking again cannot help.
    case refused
    /// The caller gave up: shutdown or a change of identity.
    case cancelled
}
