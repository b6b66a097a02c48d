package import StarwatchCore

/// The outcome of a request and the facts about it.
package struct Exchange: Sendable {
    /// A 2xx or 304 response, or the failure.
    package let outcome: Result<HTTPResponse, APIFailure>
    package let report: RequestReport

    /// Classifies an answer by ``AnswerClassifier``.
    package init(_ exchange: HTTPExchange) {
        let now = exchange.measurements.receivedAt.wall
        self.init(exchange) { AnswerClassifier.classify($0, now: now) }
    }

    /// - Parameter classify: Returns the failure that an answer is; `nil` when it is none.
    package init(_ exchange: HTTPExchange, classify: (HTTPResponse) -> APIFailure?) {
        let response: HTTPResponse?
        let result: RequestResult
        switch exchange.result {
        case .success(let answer):
            let failure = classify(answer)
            response = answer
            result = failure?.result ?? (answer.status == 304 ? .notModified : .ok)
            outcome = failure.map(Result.failure) ?? .success(answer)
        case .failure(let error):
            response = nil
            result = error.result
            outcome = .failure(
                APIFailure(result: error.result, failureClass: error.failureClass, reason: error.description)
            )
        }
        report = RequestReport(result: result, response: response, measurements: exchange.measurements)
    }
}

/// The facts about one request, for metrics, clock and rate limit. Contains no personal data.
package struct RequestReport: Sendable {
    package let result: RequestResult
    /// The HTTP status; `nil` when there was no response.
    package let status: Int?
    /// Phase durations, byte counts, connection reuse, and the times of sending and receiving.
    package let measurements: HTTPMeasurements
    /// The unparsed `Date` header.
    package let date: String?
    /// The unparsed `X-Server-Time` header: seconds or milliseconds.
    package let serverTime: String?
    /// Whether the response has an `Age` header: it comes from a cache, and its times are not the server's.
    package let hasAge: Bool
    /// The unparsed `X-Rate-Limit-Remaining`, `X-RateLimit-Remaining` or `RateLimit-Remaining` header.
    package let rateLimitRemaining: String?
    /// The unparsed `…-Reset` header of the same three names; `nil` without a remaining number.
    package let rateLimitReset: String?
    /// The unparsed `RateLimit` header, which holds all three values in one field.
    package let rateLimit: String?
    /// The server's identifier of the request: `requestId` of an error's body, else the `X-Request-ID` header.
    package let serverRequestID: String?

    /// Time from the start of the transfer to its end.
    package var duration: Duration { measurements.total }
    package var sentBytes: Int { measurements.sentBytes }
    package var receivedBytes: Int { measurements.receivedBytes }
    package var sentAt: ClockReading { measurements.sentAt }
    package var receivedAt: ClockReading { measurements.receivedAt }

    init(result: RequestResult, response: HTTPResponse?, measurements: HTTPMeasurements) {
        let headers = response?.headers
        self.result = result
        self.status = response?.status
        self.measurements = measurements
        date = headers?["Date"]
        serverTime = headers?["X-Server-Time"]
        hasAge = headers?.contains("Age") ?? false
        rateLimitRemaining = headers?.rateLimit(.remaining)
        rateLimitReset = rateLimitRemaining == nil ? nil : headers?.rateLimit(.reset)
        self.rateLimit = headers?["RateLimit"]
        let isError = (response?.status ?? 200) >= 400
        let body = isError ? response.flatMap { RequestTrace.shown(ErrorBody($0.body).requestID) } : nil
        serverRequestID = body ?? RequestTrace.shown(headers?["X-Request-ID"])
    }
}
