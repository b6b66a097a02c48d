package import StarwatchCore

extension AnswerClassifier {
    /// Returns the failure of a successful answer that is not JSON, such as one that was cut off; `nil` for any other.
    ///
    /// Without this check such an answer would count as `ok`, and only its cycle would fail. Any JSON passes, because
    /// ``PageDecoder`` skips what it does not need.
    package static func unreadable(_ response: HTTPResponse) -> APIFailure? {
        // A 204 has no body.
        guard (200..<300).contains(response.status), response.status != 204 else { return nil }
        if JSONText.isValid(response.body) { return nil }
        return malformed(response, .notJSON)
    }

    /// Returns the failure of a successful answer that Foundation's decoder must not read: one that is not JSON, or too
    /// expensive to decode.
    package static func undecodable(_ response: HTTPResponse) -> APIFailure? {
        if let failure = unreadable(response) { return failure }
        guard (200..<300).contains(response.status), !JSONText.isBounded(response.body) else { return nil }
        return malformed(response, .tooComplex)
    }

    private static func malformed(_ response: HTTPResponse, _ cause: FailureReason.Cause) -> APIFailure {
        APIFailure(
            result: .malformed,
            failureClass: .malformed,
            status: response.status,
            reason: cause.sentence,
            cause: cause
        )
    }
}
