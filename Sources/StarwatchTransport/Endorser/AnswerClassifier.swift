package import StarwatchCore

/// Classifies a response by its consequence for retries, rate limits and the circuit breaker.
package enum AnswerClassifier {
    /// Returns the failure that a response stands for; `nil` for 2xx and 304. A body over 64 KiB is ignored.
    ///
    /// - Parameter now: The local time of the response. A `Retry-After` date counts from it when the response has no
    ///   `Date`.
    package static func classify(_ response: HTTPResponse, now: Timestamp) -> APIFailure? {
        let status = response.status
        if (200..<300).contains(status) || status == 304 { return nil }
        let error = (400..<600).contains(status) ? ErrorBody(response.body) : ErrorBody()
        // Applies to every 4xx and 5xx: a server can send Retry-After with any of them.
        let wait = (400..<600).contains(status) ? retryAfter(response.headers, error, now: now) : nil
        let meaning = meaning(of: status, error, isTimed: wait != nil)
        return APIFailure(
            result: meaning.result,
            failureClass: meaning.failureClass,
            status: status,
            retryAfter: wait,
            reason: meaning.reason
        )
    }

    private typealias Meaning = (result: RequestResult, failureClass: FailureClass, reason: String)

    /// - Parameter isTimed: Whether the server says how long to wait.
    private static func meaning(of status: Int, _ error: ErrorBody, isTimed: Bool) -> Meaning {
        switch status {
        case 300..<400:
            (.malformed, .refused, "The server redirects; set server.url to the redirect's target.")
        case 400: tokenRefusal(error).map { (.unauthenticated, $0.failureClass, $0.reason) } ?? rejected(status)
        case 401:
            (.unauthenticated, .unauthenticated, "The server rejected the token (401); check auth.")
        case 403:
            (.forbidden, .refused, "The server denied access (403); check the account's permissions.")
        case 404:
            (.notFound, .refused, "The server has no such endpoint (404); check server.url and server.dialect.")
        case 408:
            (.timeout, .timeout, "The server did not receive the request in time (408); check the network.")
        case 409:
            (.badRequest, .refused, "The request conflicts with the server's state (409).")
        case 413:
            (.badRequest, .refused, "The request is too large for the server (413); raise its limit.")
        case 415:
            (.badRequest, .refused, "The server does not accept JSON requests (415); check server.url.")
        case 429:
            (.rateLimited, .rateLimited, "The server rate-limited the request (429).")
        case 503 where isTimed:
            (.serverError, .unavailable, "The server is unavailable and asks the agent to wait (503).")
        case 500..<600:
            (.serverError, .serverError, "Server error (\(status)); check the server if it persists.")
        case 400..<500: rejected(status)
        default:
            (.malformed, .malformed, "The server sent the unexpected status \(status); check server.url.")
        }
    }

    private static func rejected(_ status: Int) -> Meaning {
        (.badRequest, .refused, "The server rejected the request (\(status)); check server.url and server.dialect.")
    }

    /// The wait requested by the server; `nil` when it requests none. The header takes precedence over the body.
    private static func retryAfter(_ headers: HTTPHeaders, _ error: ErrorBody, now: Timestamp) -> Duration? {
        if let value = headers["Retry-After"] {
            let date = headers["Date"].flatMap { HTTPDate.parse($0, now: now) }
            if let wait = RetryAfter.parse(value, answerDate: date, now: now) { return wait }
        }
        guard let seconds = error.retryAfterSeconds, seconds >= 0, seconds.isFinite else { return nil }
        return min(RetryAfter.longest, .seconds(min(seconds, 1e9)))
    }

    /// Returns the class and reason of a 400 that concerns the token; `nil` for any other 400.
    ///
    /// The class says whether another token can help. The endorser server marks these responses by a code, and gives
    /// the reason as a sentence of its JWT library.
    private static func tokenRefusal(_ error: ErrorBody) -> (failureClass: FailureClass, reason: String)? {
        let message = error.message ?? ""
        switch error.code {
        case "UNSUPPORTED_DID_METHOD":
            return (.refused, "The server does not support the DID method of identity.did; use another DID.")
        case "JWT_VERIFY_FAILED", "unauthorized", "invalid_token", "token_expired":
            break
        case nil where error.isObject && message.contains("JWT"):
            break
        default:
            return nil
        }
        if message.contains("has expired") {
            return (.unauthenticated, "The server reports an expired token; check auth and this machine's clock.")
        }
        if message.contains("issued in the future") || message.contains("not valid before") {
            return (.unauthenticated, "The server reports that the token is not valid yet; check this machine's clock.")
        }
        if message.contains("audience") {
            return (.refused, "The server rejects tokens with an audience; set server.dialect to endorser.")
        }
        if message.contains("no matching public key") || message.contains("not_supported") {
            return (.refused, "The token is not signed with the key of its DID; check auth and identity.did.")
        }
        return (.unauthenticated, "The server rejected the token (400); check auth.")
    }
}
