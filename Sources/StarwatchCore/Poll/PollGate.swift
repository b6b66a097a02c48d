/// Decides from local knowledge whether a cycle can start.
///
/// The caller checks that a token is available and that no cycle of the same poll is running.
public struct PollGate: Sendable, Hashable {
    public var hasIdentity: Bool
    /// Whether the account has stars; `true` for polls that need none.
    public var hasStars: Bool
    public var optedOut: Bool
    /// Whether the poll rests because the server has no endpoint for it.
    public var lacksEndpoint = false
    /// The end of a wait before which no request is allowed; `nil` for no wait.
    public var notBefore: Timestamp?
    public var circuitIsOpen: Bool
    /// Whether the outbox is so full that polling pauses. Delivery continues.
    public var isUnderPressure: Bool

    public init(
        hasIdentity: Bool,
        hasStars: Bool,
        optedOut: Bool,
        notBefore: Timestamp?,
        circuitIsOpen: Bool,
        isUnderPressure: Bool
    ) {
        (self.hasIdentity, self.hasStars, self.optedOut) = (hasIdentity, hasStars, optedOut)
        (self.notBefore, self.circuitIsOpen, self.isUnderPressure) = (notBefore, circuitIsOpen, isUnderPressure)
    }

    /// The most fundamental reason to skip the cycle; `nil` if it can start.
    public func skip(at now: Timestamp) -> SkipReason? {
        if !hasIdentity { return .noIdentity }
        if optedOut { return .optedOut }
        if !hasStars { return .noStars }
        if lacksEndpoint { return .endpointMissing }
        if isUnderPressure { return .backpressure }
        if let notBefore, now < notBefore { return .throttled }
        if circuitIsOpen { return .circuitOpen }
        return nil
    }

    /// Whether `openRows`, the rows that are pending or claimed, reach `threshold` of `maxUndelivered`.
    ///
    /// - Parameter threshold: A fraction of `maxUndelivered`.
    public static func isUnderPressure(openRows: Int, maxUndelivered: Int, threshold: Double) -> Bool {
        Double(openRows) >= Double(maxUndelivered) * threshold
    }

    /// The smallest number of open rows with which ``isUnderPressure(openRows:maxUndelivered:threshold:)`` is true.
    public static func pressure(maxUndelivered: Int, threshold: Double) -> Int {
        Int((Double(maxUndelivered) * threshold).rounded(.up))
    }
}
