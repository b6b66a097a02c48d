/// Why a token was refused.
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
    /// A required claim is absent or not what it must be.
    case claim(String)
    case tooOld
    /// The scope lacks `notifications`; the text is the scope it has.
    case scope(String)
    /// The token was used before for something that takes it once.
    case replayed
}
