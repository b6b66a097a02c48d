package import StarwatchCore

/// A request's end and the facts about it.
package struct Exchange: Sendable {
    /// A 2xx or 304 answer, or why there is none.
    package let outcome: Result<HTTPResponse, APIFailure>
    package let report: RequestReport

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

/// The facts about one request, for metrics, clock and throttle. Holds nothing personal.
package struct RequestReport: Sendable {
    package let result: RequestResult
    /// The HTTP status; `nil` when there was no answer.
    package let status: Int?
    /// Phases, bytes, whether the connection was new, and when the request was written and the answer complete.
    package let measurements: HTTPMeasurements
    /// `Date`, as it came.
    package let date: String?
    /// `X-Server-Time`, as it came: seconds or milliseconds.
    package let serverTime: String?
    /// Whether the answer has an `Age`: a cache gave it, and its times are not the server's.
    package let hasAge: Bool
    /// `X-Rate-Limit-Remaining`, `X-RateLimit-Remaining` or `RateLimit-Remaining`, as it came.
    package let rateLimitRemaining: String?
    /// The `…-Limit` of the same three.
    package let rateLimitLimit: String?
    /// The `…-Reset` of the same three.
    package let rateLimitReset: String?
    /// `RateLimit`, as it came: all of it in one field.
    package let rateLimit: String?

    /// From the start of the transfer to its end.
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
        rateLimitRemaining = headers?.rateLimit("Remaining")
        rateLimitLimit = headers?.rateLimit("Limit")
        rateLimitReset = headers?.rateLimit("Reset")
        self.rateLimit = headers?["RateLimit"]
    }
}
