/// A time of day to the minute, without a zone.
public struct DayTime: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// 0…23.
    public let hour: Int
    /// 0…59.
    public let minute: Int

    /// `nil` unless `text` is `HH:MM`, each of two digits.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"),
            [0, 1, 3, 4].allSatisfy({ (48...57).contains(bytes[$0]) })
        else { return nil }
        hour = Int(bytes[0] - 48) * 10 + Int(bytes[1] - 48)
        minute = Int(bytes[3] - 48) * 10 + Int(bytes[4] - 48)
        guard hour < 24, minute < 60 else { return nil }
    }

    public var description: String { "\(String(hour, width: 2)):\(String(minute, width: 2))" }

    /// The slot's name in the requirements: `slot-08-00`.
    public var slot: String { "slot-\(String(hour, width: 2))-\(String(minute, width: 2))" }

    public static func < (a: DayTime, b: DayTime) -> Bool { (a.hour, a.minute) < (b.hour, b.minute) }

    /// A daily schedule at this time. A time that the zone skips runs right after the gap; a repeated one runs once,
    /// the first time.
    public func schedule(in zone: any TimeZoneRules) -> Schedule? {
        (try? CronExpression("\(minute) \(hour) * * *")).map { .cron($0, zone: zone) }
    }
}
