package import StarwatchCore

extension AnswerClassifier {
    /// Returns the failure of a successful answer whose JSON cannot be decoded, such as one that was cut off, or is too
    /// expensive to decode; `nil` for any other answer.
    ///
    /// Without this check such an answer would count as `ok`, and only its cycle would fail.
    package static func unreadable(_ response: HTTPResponse) -> APIFailure? {
        // A 204 has no body.
        guard (200..<300).contains(response.status), response.status != 204 else { return nil }
        if JSONText.isValid(response.body) { return nil }
        let cause = JSONText.isBounded(response.body) ? FailureReason.Cause.notJSON : .tooComplex
        return APIFailure(
            result: .malformed,
            failureClass: .malformed,
            status: response.status,
            reason: cause.sentence,
            cause: cause
        )
    }
}
