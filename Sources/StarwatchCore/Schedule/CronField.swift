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
        guard (1...3).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }
}
