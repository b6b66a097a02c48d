package import StarwatchCore

/// The end of an attempt: the facts about it, and why it has no answer.
package struct Exchange: Sendable {
    /// The failure; `nil` if the answer was taken.
    package let failure: APIFailure?
    package let report: RequestReport
}

extension HTTPExchange {
    /// Classifies the answer by ``AnswerClassifier``, and gives it to `take` if it is no failure. A long one is taken on the
    /// runtime's threads.
    ///
    /// - Parameter take: Takes the content of a 2xx or 304 response, or returns the failure that it is. Called at most once.
    package func read(
        _ report: RequestReport,
        _ take: @escaping @Sendable (HTTPResponse) -> APIFailure?
    ) async -> Exchange {
        guard case .success(let response) = result, response.body.count >= Offload.longAnswer else {
            return end(report, take)
        }
        return await Offload.run { end(report, take) }
    }

    private func end(_ report: RequestReport, _ take: (HTTPResponse) -> APIFailure?) -> Exchange {
        let failure: APIFailure?
        switch result {
        case .success(let response):
            failure = AnswerClassifier.classify(response, now: measurements.receivedAt.wall) ?? take(response)
        case .failure(let error):
            failure = APIFailure(
                result: error.result,
                failureClass: error.failureClass,
                reason: error.description,
                cause: error == .expired ? error.cause : nil
            )
        }
        var report = report
        if case .success = result, let failure { report.result = failure.result }
        return Exchange(failure: failure, report: report)
    }
}

/// The facts about one request, for metrics, clock and rate limit. Contains no personal data.
package struct RequestReport: Sendable {
    package internal(set) var result: RequestResult
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

    package init(_ exchange: HTTPExchange) {
        let response: HTTPResponse?
        switch exchange.result {
        case .success(let answer): (response, result) = (answer, answer.status == 304 ? .notModified : .ok)
        case .failure(let error): (response, result) = (nil, error.result)
        }
        let headers = response?.headers
        status = response?.status
        measurements = exchange.measurements
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
