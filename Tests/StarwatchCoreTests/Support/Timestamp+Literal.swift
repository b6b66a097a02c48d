import StarwatchCore
import Testing

/// The time of an RFC 3339 text.
func at(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> Timestamp {
    try #require(Timestamp(iso8601: text), sourceLocation: sourceLocation)
}

/// A failed request, as the transport would report it.
func failure(
    _ failureClass: FailureClass,
    result: RequestResult = .serverError,
    retryAfter: Duration? = nil
) -> APIFailure {
    APIFailure(result: result, failureClass: failureClass, retryAfter: retryAfter, reason: "It failed.")
}
