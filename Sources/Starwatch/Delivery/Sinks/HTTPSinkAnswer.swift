import StarwatchCore
import StarwatchTransport

/// Meaning of an HTTP sink's response (semantics: dispatch).
enum HTTPSinkAnswer {
    /// Maximum response size. No receiver needs more; the body is not read.
    static let largestBytes = 65_536
    /// Maximum accepted `Retry-After`. A longer value is a mistake and is ignored.
    static let longestRetryAfter = Duration.seconds(7 * 86_400)

    static func result(of exchange: HTTPExchange, at now: Timestamp) -> SinkResult {
        switch exchange.result {
        case .failure(.timeout): .timeout
        // The response body was too long, but its status arrived before it.
        case .failure(.tooLarge) where exchange.status != nil:
            result(of: HTTPResponse(status: exchange.status ?? 0, headers: HTTPHeaders(block: []), body: []), at: now)
        case .failure(let error):
            .unavailable(
                SinkFailure("The sink cannot be reached (\(error.cause.phrase)).", error.cause),
                retryAfter: nil
            )
        case .success(let response): result(of: response, at: now)
        }
    }

    static func result(of response: HTTPResponse, at now: Timestamp) -> SinkResult {
        let reason = FailureReason(status: response.status)
        return switch response.status {
        case 200...299: .ok
        case 408: .timeout
        case 410: .gone
        case 425, 429, 500...599:
            .unavailable(
                SinkFailure("The sink answered that it is not available (\(reason.phrase)).", reason),
                retryAfter: retryAfter(of: response, at: now)
            )
        default: .rejected(SinkFailure("The sink refused the notification (\(reason.phrase)).", reason))
        }
    }

    private static func retryAfter(of response: HTTPResponse, at now: Timestamp) -> Duration? {
        let wait = response.headers["retry-after"].flatMap {
            RetryAfter.parse(
                $0,
                answerDate: response.headers["date"].flatMap { HTTPDate.parse($0, now: now) },
                now: now
            )
        }
        return wait.flatMap { $0 <= longestRetryAfter ? $0 : nil }
    }
}

extension SinkOptions {
    /// The trust of a sink's own client; `nil` if the system's is enough.
    var trust: HTTPClientOptions? {
        guard kind.sendsRequests, let caFile else { return nil }
        var options = HTTPClientOptions(caFile: caFile)
        options.caSetting = "delivery.sinks.\(name).ca_file"
        return options
    }
}
