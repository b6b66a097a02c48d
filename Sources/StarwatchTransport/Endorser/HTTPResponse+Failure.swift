internal import FoundationEssentials
package import StarwatchCore

/// The classes of responses by their consequence for retries, rate limits and the circuit breaker.
extension HTTPResponse {
    /// Returns the failure that the response stands for; `nil` for 2xx and 304. A body over 64 KiB is ignored.
    ///
    /// - Parameter now: The local time of the response. A `Retry-After` date counts from it when the response has no
    ///   `Date`.
    package func failure(at now: Timestamp) -> APIFailure? {
        if (200..<300).contains(status) || status == 304 { return nil }
        let error = (400..<600).contains(status) ? ErrorBody(body) : ErrorBody()
        // Applies to every 4xx and 5xx: a server can send Retry-After with any of them.
        let wait = (400..<600).contains(status) ? Self.retryAfter(headers, error, now: now) : nil
        var detail = error.detail
        if status == 400 { detail.token = Self.tokenProblem(error) }
        let (result, failureClass) = Self.meaning(of: status, error, detail.token, isTimed: wait != nil)
        return APIFailure(
            result: result,
            failureClass: failureClass,
            status: status,
            retryAfter: wait,
            reason: FailureReason(status: status, detail: detail).sentence,
            detail: detail,
            serverTime: error.currentTime
        )
    }

    /// - Parameter isTimed: Whether the server says how long to wait.
    private static func meaning(
        of status: Int,
        _ error: ErrorBody,
        _ problem: TokenProblem?,
        isTimed: Bool
    ) -> (result: RequestResult, failureClass: FailureClass) {
        switch status {
        case 300..<400: (.redirected, .refused)
        case 400 where problem?.isLasting == true: (.unauthenticated, .refused)
        case 400 where isAboutToken(error): (.unauthenticated, .unauthenticated)
        case 401: (.unauthenticated, .unauthenticated)
        case 403: (.forbidden, .refused)
        case 404: (.notFound, .refused)
        case 408: (.timeout, .timeout)
        case 429: (.rateLimited, .rateLimited)
        case 503 where isTimed: (.serverError, .unavailable)
        case 500..<600: (.serverError, .serverError)
        case 400..<500: (.badRequest, .refused)
        default: (.malformed, .malformed)
        }
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

    /// Whether a 400 concerns the token. The endorser server marks these by a code, or by the shape of the error.
    private static func isAboutToken(_ error: ErrorBody) -> Bool {
        guard let code = error.code else { return error.isObject && error.message?.contains("JWT") == true }
        return ServerErrorCode(rawValue: code)?.isAboutToken ?? false
    }

    /// The problem of a rejected token. The endorser server gives it as a sentence of its JWT library.
    private static func tokenProblem(_ error: ErrorBody) -> TokenProblem? {
        guard isAboutToken(error) else { return nil }
        if error.code == ServerErrorCode.unsupportedDIDMethod.rawValue { return .didMethod }
        let message = error.message ?? ""
        if message.contains("has expired") { return .expired }
        if message.contains("issued in the future") || message.contains("not valid before") { return .notYetValid }
        if message.contains("audience") { return .audience }
        if message.contains("no matching public key") { return .key }
        if message.contains("not_supported") { return .algorithm }
        return nil
    }
}

extension APIFailure {
    /// A 304 to a request without validators.
    package static let unexpectedNotModified = APIFailure(
        result: .malformed,
        failureClass: .malformed,
        status: 304,
        reason: "The server answered \"not modified\" (304) to a request that was not conditional."
    )
}

extension HTTPExchange {
    /// The response, if it is a 2xx or 304; otherwise the failure that it stands for.
    package var answer: Result<HTTPResponse, APIFailure> {
        result.flatMap { response in
            response.failure(at: measurements.receivedAt.wall).map(Result.failure) ?? .success(response)
        }
    }

    /// Reads the content of a 2xx or 304 response, a long one on the runtime's threads.
    ///
    /// - Parameter take: Returns the content, or the failure that it is. Called at most once.
    package func read<Content: Sendable>(
        _ take: @escaping @Sendable (HTTPResponse) -> Result<Content, APIFailure>
    ) async -> Result<Content, APIFailure> {
        switch answer {
        case .success(let response) where response.body.count >= Offload.longAnswer:
            await Offload.run { take(response) }
        case .success(let response): take(response)
        case .failure(let failure): .failure(failure)
        }
    }

    /// The result for the metrics.
    ///
    /// - Parameter failure: The reason why the answer was not taken; `nil` if it was.
    package func result(_ failure: APIFailure?) -> RequestResult {
        failure?.result ?? (response?.status == 304 ? .notModified : .ok)
    }
}

extension HTTPResponse {
    /// The server's identifier of the request: `requestId` of an error's body, else the `X-Request-ID` header.
    package var requestID: String? {
        let body = status >= 400 ? RequestTrace.shown(ErrorBody(body).requestID) : nil
        return body ?? RequestTrace.shown(headers["X-Request-ID"])
    }

    /// Decodes a successful answer.
    ///
    /// - Returns: `nil` for JSON of another shape, and for an answer without content. The failure of an answer that is
    ///   not JSON, such as one that was cut off, or that is too expensive to decode.
    package func decoded<Value: Decodable>(as type: Value.Type) -> Result<Value?, APIFailure> {
        guard (200..<300).contains(status), status != 204 else { return .success(nil) }
        if JSONText.isBounded(body), let value = try? JSONDecoder().decode(type, from: Data(body)) {
            return .success(value)
        }
        guard JSONText.isValid(body) else { return .failure(notJSON) }
        return JSONText.isBounded(body) ? .success(nil) : .failure(APIFailure(.tooComplex, status: status))
    }

    /// The failure of a successful answer whose bytes are not JSON.
    package var notJSON: APIFailure {
        let mark = body.first { $0 > 32 && ![0xEF, 0xBB, 0xBF].contains($0) }
        return APIFailure(mark == UInt8(ascii: "<") ? .html : .notJSON, status: status)
    }
}

extension TokenProblem {
    /// Whether another token of the same kind has the same problem.
    fileprivate var isLasting: Bool {
        switch self {
        case .expired, .notYetValid: false
        case .audience, .key, .algorithm, .didMethod: true
        }
    }
}
