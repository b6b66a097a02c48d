/// The date of HTTP headers, in its three forms (RFC 9110, section 5.6.7).
public enum HTTPDate {
    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let longDays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
    ///
    /// The day name must exist but need not match the date.
    ///
    /// - Parameter now: Determines the century of a two-digit year, at most 50 years ahead.
    /// - Returns: `nil` for other texts and for impossible dates.
    public static func parse(_ text: some StringProtocol, now: Timestamp) -> Timestamp? {
        // Today's servers send only the first form.
        if let time = preferred(Array(text.utf8)) { return time }
        let parts = text.split { $0 == " " }.map { String($0) }
        guard let first = parts.first else { return nil }
        if parts.count == 4, first.last == ",", longDays.contains(String(first.dropLast())), parts[3] == "GMT" {
            let date = parts[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
            guard date.count == 3, let short = number(date[2], 2) else { return nil }
            let current = CivilTime(now)
            var year = current.year - current.year % 100 + short
            if year > current.year + 50 { year -= 100 } else if year <= current.year - 50 { year += 100 }
            return time(year: year, month: date[1], day: number(date[0], 2), clock: parts[2])
        }
        if parts.count == 5, days.contains(first) {
            let day = number(parts[2], 2) ?? number(parts[2], 1)
            return time(year: number(parts[4], 4), month: parts[1], day: day, clock: parts[3])
        }
        return nil
    }

    private static let dayKeys = days.map { key($0) }
    private static let monthKeys = months.map { key($0) }

    /// Three letters as a number, which is compared at once.
    private static func key(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> UInt32 {
        UInt32(first) << 16 | UInt32(second) << 8 | UInt32(third)
    }

    private static func key(_ name: String) -> UInt32 { name.utf8.reduce(0) { $0 << 8 | UInt32($1) } }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT` without allocating strings for its parts.
    private static func preferred(_ text: [UInt8]) -> Timestamp? {
        guard text.count == 29, text[3] == UInt8(ascii: ","), text[19] == UInt8(ascii: ":"),
            text[22] == UInt8(ascii: ":"), text[25...].elementsEqual(" GMT".utf8),
            [4, 7, 11, 16].allSatisfy({ text[$0] == UInt8(ascii: " ") }),
            dayKeys.contains(key(text[0], text[1], text[2])),
            let month = monthKeys.firstIndex(of: key(text[8], text[9], text[10]))
        else { return nil }
        func number(_ range: Range<Int>) -> Int? {
            var value = 0
            for byte in text[range] {
                guard (48...57).contains(byte) else { return nil }
                value = value * 10 + Int(byte - 48)
            }
            return value
        }
        guard let day = number(5..<7), let year = number(12..<16), let hour = number(17..<19),
            let minute = number(20..<22), let second = number(23..<25)
        else { return nil }
        return time(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
    }

    /// Formats a time as `Sun, 06 Nov 1994 08:49:37 GMT`. Fractions of a second are dropped.
    public static func format(_ time: Timestamp) -> String {
        let t = CivilTime(time)
        func two(_ value: Int) -> String { String(value, width: 2) }
        return "\(days[t.weekday]), \(two(t.day)) \(months[t.month - 1]) \(String(t.year, width: 4)) "
            + "\(two(t.hour)):\(two(t.minute)):\(two(t.second)) GMT"
    }

    private static func number(_ text: String, _ digits: Int) -> Int? {
        guard text.utf8.count == digits, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int(text)
    }

    private static func time(year: Int?, month: String, day: Int?, clock: String) -> Timestamp? {
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard let year, let day, let month = months.firstIndex(of: month), parts.count == 3,
            let hour = number(parts[0], 2), let minute = number(parts[1], 2), let second = number(parts[2], 2)
        else { return nil }
        return time(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
    }

    private static func time(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> Timestamp? {
        guard day >= 1, day <= CivilTime.daysInMonth(year: year, month: month), hour < 24, minute < 60, second <= 60
        else { return nil }
        return CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second).timestamp()
    }
}

/// The `Retry-After` header: seconds or a date (RFC 9110, section 10.2.3).
public enum RetryAfter {
    /// The longest wait: 2³¹ − 1 s. Longer ones are clamped.
    public static let longest = Duration.seconds(Int64(Int32.max))

    /// The wait that the server asks for, counted from the answer.
    ///
    /// - Parameters:
    ///   - answerDate: The `Date` of the same answer. A date in the header is relative to it, so no clock has to be
    ///     right; without it, to `now`.
    /// - Returns: Zero for a past date; `nil` for an invalid header.
    public static func parse(_ value: String, answerDate: Timestamp?, now: Timestamp) -> Duration? {
        let text = value.drop { $0 == " " || $0 == "\t" }
        let end = text.lastIndex { $0 != " " && $0 != "\t" }
        guard let end else { return nil }
        let trimmed = text[...end]
        if trimmed.utf8.allSatisfy(\.isDigit) {
            guard let seconds = Int64(trimmed) else { return longest }
            return min(longest, .seconds(min(seconds, Int64(Int32.max))))
        }
        guard let date = HTTPDate.parse(trimmed, now: answerDate ?? now) else { return nil }
        return min(longest, max(.zero, date - (answerDate ?? now)))
    }
}
