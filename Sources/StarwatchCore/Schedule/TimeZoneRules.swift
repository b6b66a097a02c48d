/// The rules of a time zone that a schedule needs.
public protocol TimeZoneRules: Sendable {
    /// The IANA name, such as `Europe/Zurich`.
    var identifier: String { get }

    /// The offset at `time`, in seconds east of UTC; between −18 and +18 hours.
    func offsetSeconds(at time: Timestamp) -> Int
}

/// A zone without daylight saving time.
public struct FixedZone: TimeZoneRules, Hashable {
    public let identifier: String
    private let offset: Int

    /// Creates a zone that is always `offsetSeconds` east of UTC.
    public init(identifier: String, offsetSeconds: Int) {
        self.identifier = identifier
        self.offset = offsetSeconds
    }

    /// Coordinated universal time.
    public static let utc = FixedZone(identifier: "UTC", offsetSeconds: 0)

    public func offsetSeconds(at time: Timestamp) -> Int { offset }
}
