/// The rules of a time zone that a schedule needs.
public protocol TimeZoneRules: Sendable {
    /// The IANA name, such as `Europe/Zurich`.
    var identifier: String { get }

    /// The offset at `time`, in seconds east of UTC; between −18 and +18 hours.
    func offsetSeconds(at time: Timestamp) -> Int

    /// The present rules, which do not change during a computation. A zone whose file can change returns a copy.
    var current: any TimeZoneRules { get }
}

extension TimeZoneRules {
    public var current: any TimeZoneRules { self }
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

/// A period with a constant zone offset. Times are in milliseconds; `end` is exclusive.
struct ZoneSegment {
    let start: Int64
    let end: Int64
    let offset: Int64

    var localStart: Int64 { start + offset }
    var localEnd: Int64 { end + offset }

    /// Half a day. Two changes of one zone are always further apart.
    private static let probe: Int64 = 43_200_000

    /// The segments of `zone` between `start` and `end`, both whole seconds, cut off at both ends.
    static func segments(of zone: some TimeZoneRules, from start: Int64, to end: Int64) -> [ZoneSegment] {
        func offset(_ time: Int64) -> Int64 {
            Int64(zone.offsetSeconds(at: Timestamp(milliseconds: time))) * 1000
        }
        var segments: [ZoneSegment] = []
        var begin = start
        var current = offset(start)
        var left = start
        while left < end {
            let right = min(left + probe, end)
            if offset(right) == current {
                left = right
                continue
            }
            var before = left / 1000
            var after = right / 1000
            while after - before > 1 {
                let middle = before + (after - before) / 2
                if offset(middle * 1000) == current { before = middle } else { after = middle }
            }
            let change = after * 1000
            if change > begin { segments.append(ZoneSegment(start: begin, end: change, offset: current)) }
            begin = change
            left = change
            current = offset(change)
        }
        if begin < end { segments.append(ZoneSegment(start: begin, end: end, offset: current)) }
        return segments
    }
}
