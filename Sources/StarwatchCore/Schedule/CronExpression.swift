/// A five-field cron expression with Vixie's rules.
///
/// Supports numbers, names, lists, ranges, and steps after a range or `*`. If neither day field starts with `*`, a date
/// matches when either field does; otherwise both must match. Fields are bit masks, so that the search skips whole
/// hours, days and months.
public struct CronExpression: Sendable, Hashable, CustomStringConvertible {
    /// The original text, with single spaces between the fields.
    public let text: String
    /// Whether the hour field starts with `*`. Such an expression follows real time: both passes of a repeated hour
    /// count, and a skipped hour is not made up for. Other expressions follow the wall clock.
    public let isPeriodic: Bool

    let minutes: UInt64
    let hours: UInt32
    let days: UInt64
    let months: UInt64
    /// The weekdays of six weeks, beginning with a Sunday at bit 0.
    private let weekdays: UInt64
    private let bothDaysMustMatch: Bool

    /// Parses `text`.
    ///
    /// - Throws: ``CronError``, also for an expression that matches no existing date.
    public init(_ text: String) throws(CronError) {
        let fields = text.split(whereSeparator: \.isWhitespace)
        guard fields.count == 5 else { throw .fieldCount(found: fields.count) }
        self.minutes = try CronField.minute.mask(of: fields[0])
        self.hours = UInt32(try CronField.hour.mask(of: fields[1]))
        self.days = try CronField.dayOfMonth.mask(of: fields[2])
        self.months = try CronField.month.mask(of: fields[3])
        let week = try CronField.dayOfWeek.mask(of: fields[4])
        self.weekdays = (0..<6).reduce(0) { $0 | week << UInt64($1 * 7) }
        self.bothDaysMustMatch = fields[2].first == "*" || fields[4].first == "*"
        self.isPeriodic = fields[1].first == "*"
        self.text = fields.joined(separator: " ")
        if bothDaysMustMatch {
            let days = self.days
            let months = self.months
            let exists = (1...12).contains { month in
                let length = CivilTime.daysInMonth(year: 2000, month: month)
                return months & 1 << UInt64(month) != 0 && days & ((1 << UInt64(length + 1)) - 1) != 0
            }
            guard exists else { throw .neverFires }
        }
    }

    public var description: String { text }

    /// Whether a date matches by its day of the month alone, or by its day of the week alone.
    package var matchesEitherDay: Bool { !bothDaysMustMatch }

    /// Whether the date and minute of a local time match.
    ///
    /// - Parameter localMilliseconds: A local time, in milliseconds since 1970-01-01 of the local calendar.
    func matches(localMilliseconds: Int64) -> Bool {
        let minute = localMilliseconds.floorDivided(by: 60_000)
        guard minute * 60_000 == localMilliseconds else { return false }
        let day = minute.floorDivided(by: 1440)
        let ofDay = Int(minute - day * 1440)
        return time(atOrAfter: ofDay) == ofDay && date(onOrAfter: Int(day), within: 0) == Int(day)
    }

    /// The first matching minute of the day at or after `minute`; `nil` if no more match.
    func time(atOrAfter minute: Int) -> Int? {
        guard minute < 1440 else { return nil }
        let hour = minute / 60
        if hours & 1 << UInt32(hour) != 0 {
            let rest = minutes >> UInt64(minute % 60)
            if rest != 0 { return minute + rest.trailingZeroBitCount }
        }
        let later = hours >> UInt32(hour + 1)
        guard later != 0 else { return nil }
        return (hour + 1 + later.trailingZeroBitCount) * 60 + minutes.trailingZeroBitCount
    }

    /// The last matching minute of a matching day.
    var lastTime: Int { (31 - hours.leadingZeroBitCount) * 60 + 63 - minutes.leadingZeroBitCount }

    /// The first matching date, as days since 1970-01-01, on or after `day` and at most `within` days later.
    func date(onOrAfter day: Int, within: Int = 60 * 366) -> Int? {
        let limit = day + within
        var (year, month, ofMonth) = CivilTime.civil(fromDays: day)
        var firstOfMonth = day - ofMonth + 1
        while firstOfMonth <= limit {
            let length = CivilTime.daysInMonth(year: year, month: month)
            if months & 1 << UInt64(month) != 0 {
                let rest = dates(firstOfMonth: firstOfMonth, length: length) >> UInt64(ofMonth)
                if rest != 0 {
                    let found = firstOfMonth + ofMonth - 1 + rest.trailingZeroBitCount
                    return found <= limit ? found : nil
                }
            }
            firstOfMonth += length
            ofMonth = 1
            month += 1
            if month > 12 {
                month = 1
                year += 1
            }
        }
        return nil
    }

    /// The matching days of a month whose number matches: bit n is day n.
    private func dates(firstOfMonth: Int, length: Int) -> UInt64 {
        let weekday = ((firstOfMonth % 7) + 11) % 7
        let byWeekday = (weekdays >> UInt64(weekday)) << 1
        let both = bothDaysMustMatch ? days & byWeekday : days | byWeekday
        return both & ((1 << UInt64(length + 1)) - 2)
    }
}

extension Int64 {
    /// Division that rounds down, also for negative numbers.
    func floorDivided(by divisor: Int64) -> Int64 {
        let (quotient, rest) = quotientAndRemainder(dividingBy: divisor)
        return rest < 0 ? quotient - 1 : quotient
    }
}

/// The reason why a text is not a cron expression.
public enum CronError: Error, Sendable, Hashable, CustomStringConvertible {
    /// There are not five fields.
    case fieldCount(found: Int)
    /// A value is not a number or name of its field, or outside the field's range.
    case value(field: CronField, text: String)
    /// A range ends before it begins.
    case range(field: CronField, text: String)
    /// A step is not a number from 1 to the number of the field's values.
    case step(field: CronField, text: String)
    /// A step follows a single value.
    case stepWithoutRange(field: CronField, text: String)
    /// The month and day fields name only dates that do not exist, such as 31 February.
    case neverFires

    /// One sentence with the field and its allowed values.
    public var description: String {
        switch self {
        case .fieldCount(let found):
            "A schedule has five fields (minute hour day-of-month month day-of-week), but this one has \(found)"
                + (found == 6 ? "; remove the field for seconds." : ".")
        case .value(let field, let text):
            "The \(field.rawValue) field of the schedule has '\(text.prefix(40))'; it accepts \(field.allowed), "
                + "lists, ranges, and '*'."
        case .range(let field, let text):
            "The \(field.rawValue) field of the schedule has the range '\(text.prefix(40))', which ends before it "
                + "begins; it accepts \(field.allowed) in rising order."
        case .step(let field, let text):
            "The \(field.rawValue) field of the schedule has '\(text.prefix(40))'; its step must be a number from "
                + "1 to \(field.valueCount)."
        case .stepWithoutRange(let field, let text):
            "The \(field.rawValue) field of the schedule has '\(text.prefix(40))'; a step follows '*' or a range "
                + "within \(field.allowed)."
        case .neverFires:
            "The schedule never fires: its day-of-month field names days that its month field (1-12) does not have."
        }
    }
}

/// One of the five fields of a cron expression, in their order.
public enum CronField: String, Sendable, CaseIterable {
    case minute
    case hour
    case dayOfMonth = "day-of-month"
    case month
    case dayOfWeek = "day-of-week"

    /// The allowed numbers. Both 0 and 7 are Sunday.
    public var range: ClosedRange<Int> {
        switch self {
        case .minute: 0...59
        case .hour: 0...23
        case .dayOfMonth: 1...31
        case .month: 1...12
        case .dayOfWeek: 0...7
        }
    }

    /// The allowed values, for an error message.
    public var allowed: String {
        switch self {
        case .minute, .hour, .dayOfMonth: "\(range.lowerBound)-\(range.upperBound)"
        case .month: "1-12 or jan-dec"
        case .dayOfWeek: "0-7 or sun-sat (0 and 7 are Sunday)"
        }
    }

    /// The number of different values, which is also the largest useful step.
    var valueCount: Int { self == .dayOfWeek ? 7 : range.count }

    /// Three-letter names, in the order of their numbers.
    private var names: [String] {
        switch self {
        case .minute, .hour, .dayOfMonth: []
        case .month: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        case .dayOfWeek: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
        }
    }

    /// The values of `text` as a bit mask. The text is a list of values and ranges; a range can have a step.
    func mask(of text: Substring) throws(CronError) -> UInt64 {
        var mask: UInt64 = 0
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            mask |= try maskOfPart(part)
        }
        // Sunday has two numbers and one bit.
        if self == .dayOfWeek, mask & 1 << 7 != 0 { mask = mask & ~(1 << 7) | 1 }
        return mask
    }

    private func maskOfPart(_ part: Substring) throws(CronError) -> UInt64 {
        let pieces = part.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let span = pieces[0]
        var step = 1
        if pieces.count == 2 {
            guard let value = Self.number(pieces[1]), (1...valueCount).contains(value) else {
                throw .step(field: self, text: String(part))
            }
            step = value
        }
        let first: Int
        var last: Int
        if span == "*" {
            first = range.lowerBound
            last = self == .dayOfWeek ? 6 : range.upperBound
        } else {
            let ends = span.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            guard let low = value(ends[0]) else { throw .value(field: self, text: String(part)) }
            if ends.count == 1 {
                // Cron implementations disagree about the meaning of 5/15.
                if pieces.count == 2 { throw .stepWithoutRange(field: self, text: String(part)) }
                return 1 << UInt64(low)
            }
            guard let high = value(ends[1]) else { throw .value(field: self, text: String(part)) }
            first = low
            last = high
            // fri-sun ends on the Sunday after Friday, not before it.
            if self == .dayOfWeek, ends[1].lowercased() == "sun", low > 0 { last = 7 }
            if first > last { throw .range(field: self, text: String(part)) }
        }
        var mask: UInt64 = 0
        for value in stride(from: first, through: last, by: step) { mask |= 1 << UInt64(value) }
        return mask
    }

    private func value(_ text: Substring) -> Int? {
        if let number = Self.number(text) { return range.contains(number) ? number : nil }
        guard let index = names.firstIndex(of: text.lowercased()) else { return nil }
        return self == .month ? index + 1 : index
    }

    /// One to three ASCII digits.
    private static func number(_ text: Substring) -> Int? {
        guard (1...3).contains(text.utf8.count), text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int(text)
    }
}
