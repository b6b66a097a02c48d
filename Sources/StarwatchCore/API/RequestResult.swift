/// The end of one request; the `result` label of the API metrics.
public enum RequestResult: String, Sendable, CaseIterable {
    case ok
    case notModified = "not_modified"
    case badRequest = "bad_request"
    case unauthenticated
    case forbidden
    case notFound = "not_found"
    case rateLimited = "rate_limited"
    case serverError = "server_error"
    case timeout
    case dns
    case connect
    case tls
    case reset
    case tooLarge = "too_large"
    case malformed
    case cancelled
}
