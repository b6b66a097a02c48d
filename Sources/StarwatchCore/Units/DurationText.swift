/// Durations in configuration syntax: `250ms`, `30s`, `5m`, `4h`, `7d`, `1h30m`.
public enum DurationText {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// Parses whole numbers with units, each unit at most once and the larger first.
    ///
    /// - Throws: ``UnitTextError``, also above 36,500 days.
    public static func parse(_ text: String) throws(UnitTextError) -> Duration {
        var rest = Substring(text)
        var total: Int64 = 0
        var firstUnit = 0
        repeat {
            let digits = rest.prefix { ("0"..."9").contains($0) }
            rest = rest.dropFirst(digits.count)
            let name = rest.prefix { !("0"..."9").contains($0) }
            rest = rest.dropFirst(name.count)
            guard !digits.isEmpty, let unit = units[firstUnit...].firstIndex(where: { $0.name == name }) else {
                throw .duration(text)
            }
            firstUnit = unit + 1
            let limit: Int64 = 36_500 * 86_400_000
            guard let number = Int64(digits), number <= limit / units[unit].milliseconds else {
                throw .durationTooLong(text)
            }
            total += number * units[unit].milliseconds
            guard total <= limit else { throw .durationTooLong(text) }
        } while !rest.isEmpty
        return .milliseconds(total)
    }

    private static let otherNames: [String: String] = [
        "": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m", "mins": "m", "minute": "m",
        "minutes": "m", "hr": "h", "hrs": "h", "hour": "h", "hours": "h", "day": "d", "days": "d", "msec": "ms",
        "millis": "ms", "milliseconds": "ms",
    ]

    /// Returns the duration that a wrong text probably means: `30s` for `30`, `30 sec` and `30S`.
    static func intended(by text: String) -> String? {
        let digits = text.prefix { ("0"..."9").contains($0) }
        let name = text.dropFirst(digits.count).drop { $0 == " " }.lowercased()
        let unit = units.first { $0.name == name }?.name ?? otherNames[name]
        guard !digits.isEmpty, digits.count < 10, let unit else { return nil }
        return digits + unit
    }

    /// Formats `duration` as the shortest text that ``parse(_:)`` accepts, in whole milliseconds; `0s` for zero.
    ///
    /// Negative durations, which never occur in the configuration, get a minus sign.
    public static func format(_ duration: Duration) -> String {
        var rest = duration.wholeMilliseconds.magnitude
        guard rest > 0 else { return "0s" }
        var text = duration < .zero ? "-" : ""
        for unit in units {
            let number = rest / UInt64(unit.milliseconds)
            if number > 0 { text += "\(number)\(unit.name)" }
            rest %= UInt64(unit.milliseconds)
        }
        return text
    }
}
