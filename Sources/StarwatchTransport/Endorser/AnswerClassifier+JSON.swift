package import StarwatchCore

extension AnswerClassifier {
    /// Returns the failure of a successful answer whose JSON cannot be decoded, such as one that was cut off; `nil` for
    /// any other answer.
    ///
    /// Without this check such an answer would count as `ok`, and only its cycle would fail.
    package static func unreadable(_ response: HTTPResponse) -> APIFailure? {
        // A 204 has no body.
        guard (200..<300).contains(response.status), response.status != 204, !JSONText.isValid(response.body) else {
            return nil
        }
        return APIFailure(
            result: .malformed,
            failureClass: .malformed,
            status: response.status,
            reason: "The server's answer is not valid JSON; check server.url and any proxy in front of the server."
        )
    }
}
