package import StarwatchCore

/// Says what an answer means for trying again (semantics, "Retry, throttle, circuit").
package enum AnswerClassifier {
    /// The failure that an answer is; `nil` for 2xx and 304.
    ///
    /// - Parameters:
    ///   - body: The body, or its beginning; more than 64 KiB is not looked at.
    ///   - now: The local time of the answer; a `Retry-After` date without a `Date` beside it counts from it.
    package static func classify(
        status: Int,
        headers: HTTPHeaders,
        body: some Collection<UInt8>,
        now: Timestamp
    ) -> APIFailure? {
        if (200..<300).contains(status) || status == 304 { return nil }
        let error = (400..<600).contains(status) ? ErrorBody(body) : ErrorBody()
        // Whatever the failure: it was said for how long to leave the server alone.
        let wait = (400..<600).contains(status) ? retryAfter(headers, error, now: now) : nil
        func failure(_ result: RequestResult, _ failureClass: FailureClass, _ reason: String) -> APIFailure {
            APIFailure(
                result: result,
                failureClass: failureClass,
                status: status,
                retryAfter: wait,
                reason: reason
            )
        }
        switch status {
        case 300..<400:
            return failure(.malformed, .refused, "The server redirects; set server.url to where it leads.")
        case 400:
            if let refusal = tokenRefusal(error) {
                return failure(.unauthenticated, refusal.failureClass, refusal.reason)
            }
            return failure(.badRequest, .refused, "The server does not accept the request (400).")
        case 401:
            return failure(.unauthenticated, .unauthenticated, "The server does not accept the token (401).")
        case 403:
            return failure(.forbidden, .refused, "The token does not permit this request (403).")
        case 404:
            return failure(.notFound, .refused, "The server does not have this endpoint (404).")
        case 408:
            return failure(.timeout, .timeout, "The server did not get the request in time (408).")
        case 409:
            return failure(.badRequest, .refused, "The request conflicts with the server's state (409).")
        case 413:
            return failure(.badRequest, .refused, "The request is too large for the server (413).")
        case 415:
            return failure(.badRequest, .refused, "The server does not take this content type (415).")
        case 429:
            return failure(.rateLimited, .rateLimited, "The server asks to slow down (429).")
        case 503 where wait != nil:
            return failure(.serverError, .unavailable, "The server is unavailable and says for how long (503).")
        case 500..<600:
            return failure(.serverError, .serverError, "The server failed (\(status)).")
        case 400..<500:
            return failure(.badRequest, .refused, "The server does not accept the request (\(status)).")
        default:
            return failure(.malformed, .malformed, "The server answered with a status that has no meaning here.")
        }
    }

    /// The wait the server asks for: the header before the body (C-070).
    private static func retryAfter(_ headers: HTTPHeaders, _ error: ErrorBody, now: Timestamp) -> Duration? {
        if let value = headers["Retry-After"] {
            let date = headers["Date"].flatMap { HTTPDate.parse($0, now: now) }
            if let wait = RetryAfter.parse(value, answerDate: date, now: now) { return wait }
        }
        guard let seconds = error.retryAfterSeconds, seconds >= 0, seconds.isFinite else { return nil }
        return min(RetryAfter.longest, .seconds(min(seconds, 1e9)))
    }

    /// Whether a 400 is about the token, and whether another token can help: the endorser server says so by a code,
    /// and why by a sentence of its JWT library.
    private static func tokenRefusal(_ error: ErrorBody) -> (failureClass: FailureClass, reason: String)? {
        let message = error.message ?? ""
        switch error.code {
        case "UNSUPPORTED_DID_METHOD":
            return (.refused, "The server does not support this kind of DID.")
        case "JWT_VERIFY_FAILED", "unauthorized", "invalid_token", "token_expired":
            break
        case nil where error.isObject && message.contains("JWT"):
            break
        default:
            return nil
        }
        if message.contains("has expired") {
            return (.unauthenticated, "The server says that the token has expired.")
        }
        if message.contains("issued in the future") || message.contains("not valid before") {
            return (.unauthenticated, "The server says that the token is not valid yet; check the clock.")
        }
        if message.contains("audience") {
            return (.refused, "The server takes no token with an audience; set server.dialect to endorser.")
        }
        if message.contains("no matching public key") || message.contains("not_supported") {
            return (.refused, "The token is not signed by the key of its DID; check auth and identity.did.")
        }
        return (.unauthenticated, "The server does not accept the token (400).")
    }
}
