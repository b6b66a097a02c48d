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

/// Ages and durations as the pages and the command line write them.
package enum AgeText {
    /// `3 min ago`, `in 3 min`, or `now`.
    ///
    /// - Parameter seconds: The time's age; negative for a future time.
    package static func age(_ seconds: Double) -> String {
        if seconds.magnitude < 1 { return "now" }
        return seconds < 0 ? "in " + duration(-seconds) : duration(seconds) + " ago"
    }

    /// The two largest units: `45 s`, `3 min`, `2 h 5 min`, `3 d 4 h`. Below 10 s with a tenth, below 1 s in ms.
    package static func duration(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds.magnitude < 1e12 else { return "–" }
        if seconds < 1 { return "\(Int(seconds * 1000)) ms" }
        let whole = Int(seconds)
        func two(_ large: String, and small: Int, _ unit: String) -> String {
            small == 0 ? large : "\(large) \(small) \(unit)"
        }
        switch whole {
        case ..<10:
            let tenths = Int(seconds * 10)
            return tenths % 10 == 0 ? "\(tenths / 10) s" : "\(tenths / 10).\(tenths % 10) s"
        case ..<60: return "\(whole) s"
        case ..<600: return two("\(whole / 60) min", and: whole % 60, "s")
        case ..<3600: return "\(whole / 60) min"
        case ..<86_400: return two("\(whole / 3600) h", and: whole % 3600 / 60, "min")
        default: return two("\(whole / 86_400) d", and: whole % 86_400 / 3600, "h")
        }
    }
}

/// The reason why a text is not a duration or a size.
public enum UnitTextError: Error, Sendable, Hashable, CustomStringConvertible {
    case duration(String)
    case durationTooLong(String)
    case byteSize(String)
    case byteSizeTooLarge(String)

    /// One sentence with the accepted form.
    public var description: String {
        switch self {
        case .duration(let text):
            "\(Self.shown(text)) is not a duration; "
                + (DurationText.intended(by: text).map { "write \($0)." }
                    ?? "write whole numbers with ms, s, m, h or d, such as 250ms, 30s or 1h30m.")
        case .durationTooLong(let text):
            "\(Self.shown(text)) is too long; a duration is at most 36500d."
        case .byteSize(let text):
            "\(Self.shown(text)) is not a size; "
                + (ByteSizeText.intended(by: text).map { "write \($0)." }
                    ?? "write a whole number of bytes, KiB, MiB or GiB, such as 64KiB.")
        case .byteSizeTooLarge(let text):
            "\(Self.shown(text)) is too large; a size is at most 8388608GiB."
        }
    }

    /// The text in quotes. One that is far from a number can be a secret, put here by mistake.
    private static func shown(_ text: String) -> String {
        let isNumber = text.first.map { ("0"..."9").contains($0) || "+-. ".contains($0) } ?? true
        return isNumber && text.count <= 24 ? "'\(text)'" : "This value"
    }
}
