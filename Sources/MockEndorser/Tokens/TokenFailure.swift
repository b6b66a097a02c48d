/// The reason for rejecting a token.
enum TokenFailure: Error, Sendable, Equatable {
    case missing
    case malformed
    case unsupportedAlgorithm(String)
    case unsupportedMethod
    case wrongSignature
    case expired(at: Int)
    case issuedInFuture(at: Int)
    case notYetValid(at: Int)
    case wrongAudience
    /// A required claim is missing or invalid.
    case claim(String)
    case tooOld
    /// The scope lacks `notifications`; the value is the token's scope.
    case scope(String)
    /// The token was already used for a single-use operation.
    case replayed
}
