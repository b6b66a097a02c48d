/// Whether a cycle may start, by what can be known without asking for anything (semantics: gate).
///
/// That no cycle of the same poll is under way and that a token is to be had is for the caller to see.
public struct PollGate: Sendable, Hashable {
    public var hasIdentity: Bool
    /// `true` for polls that ask about no plans.
    public var hasStars: Bool
    public var optedOut: Bool
    /// No request to the server before this time; `nil` when there is no such wait.
    public var notBefore: Timestamp?
    public var circuitIsOpen: Bool
    /// Rows that are pending or claimed.
    public var openRows: Int
    public var maxUndelivered: Int
    /// The fraction of ``maxUndelivered`` from which polling pauses.
    public var backpressureThreshold: Double

    public init(
        hasIdentity: Bool,
        hasStars: Bool,
        optedOut: Bool,
        notBefore: Timestamp?,
        circuitIsOpen: Bool,
        openRows: Int,
        maxUndelivered: Int,
        backpressureThreshold: Double
    ) {
        self.hasIdentity = hasIdentity
        self.hasStars = hasStars
        self.optedOut = optedOut
        self.notBefore = notBefore
        self.circuitIsOpen = circuitIsOpen
        self.openRows = openRows
        self.maxUndelivered = maxUndelivered
        self.backpressureThreshold = backpressureThreshold
    }

    /// The reason to skip, the most fundamental first; `nil` when the cycle may start.
    public func skip(at now: Timestamp) -> SkipReason? {
        if !hasIdentity { return .noIdentity }
        if optedOut { return .optedOut }
        if !hasStars { return .noStars }
        if isUnderPressure { return .backpressure }
        if let notBefore, now < notBefore { return .throttled }
        if circuitIsOpen { return .circuitOpen }
        return nil
    }

    /// Whether the outbox is so full that polling pauses while delivery goes on.
    public var isUnderPressure: Bool {
        Self.isUnderPressure(openRows: openRows, maxUndelivered: maxUndelivered, threshold: backpressureThreshold)
    }

    /// Whether `openRows` reach `threshold` of `maxUndelivered` (R-PRS-02).
    public static func isUnderPressure(openRows: Int, maxUndelivered: Int, threshold: Double) -> Bool {
        Double(openRows) >= Double(maxUndelivered) * threshold
    }
}
