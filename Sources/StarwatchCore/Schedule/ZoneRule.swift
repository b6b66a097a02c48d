/// A zone as POSIX's `TZ` variable states it, such as `CET-1CEST,M3.5.0,M10.5.0/3`.
///
/// A zone file ends with such a rule for the time after its last change.
public struct ZoneRule: TimeZoneRules, Hashable {
    /// The text.
    public let identifier: String
    let standard: Int
    let summer: Summer?

    struct Summer: Sendable, Hashable {
        let offset: Int
        let begin: Moment
        let end: Moment
    }

    /// A moment of every year, by the local clock before the change.
    struct Moment: Sendable, Hashable {
        enum Day: Sendable, Hashable {
            /// 1…365. 29 February is not counted, also in leap years.
            case withoutLeapDay(Int)
            /// 0…365.
            case ofYear(Int)
            /// A weekday's week of the month; week 5 is the last one. 0 is Sunday.
            case weekday(Int, week: Int, month: Int)
        }

        let day: Day
        /// Seconds after midnight; negative for the day before, and more than a day for a later one.
        let seconds: Int

        /// Seconds of the local clock since the beginning of 1970.
        func localSeconds(in year: Int) -> Int64 {
            let first = CivilTime.days(year: year, month: 1, day: 1)
            let day =
                switch day {
                case .withoutLeapDay(let number):
                    first + number - 1
                        + (number > 59 && CivilTime.daysInMonth(year: year, month: 2) == 29 ? 1 : 0)
                case .ofYear(let number): first + number
                case .weekday(let weekday, let week, let month):
                    Self.day(weekday, week: week, month: month, year: year)
                }
            return Int64(day) * 86_400 + Int64(seconds)
        }

        private static func day(_ weekday: Int, week: Int, month: Int, year: Int) -> Int {
            let first = CivilTime(year: year, month: month, day: 1)
            let ofMonth = 1 + (weekday - first.weekday + 7) % 7 + (week - 1) * 7
            let length = CivilTime.daysInMonth(year: year, month: month)
            return CivilTime.days(year: year, month: month, day: ofMonth > length ? ofMonth - 7 : ofMonth)
        }
    }

    /// `nil` if `text` is no rule, or has an offset beyond 18 hours.
    public init?(_ text: String) {
        var scanner = ZoneRuleScanner(text)
        guard let rule = scanner.rule() else { return nil }
        (identifier, standard, summer) = (text, rule.standard, rule.summer)
    }

    /// Whether the zone is always UTC.
    var isUTC: Bool { standard == 0 && summer == nil }

    public func offsetSeconds(at time: Timestamp) -> Int { offset(at: time.wholeSeconds) }

    func offset(at second: Int64) -> Int {
        guard let summer else { return standard }
        let thisYear = CivilTime(Timestamp(seconds: second), offsetSeconds: standard).year
        var isSummer = false
        var latest = Int64.min
        // A moment can be a week outside its year.
        for year in thisYear - 1...thisYear + 1 {
            let end = summer.end.localSeconds(in: year) - Int64(summer.offset)
            if end <= second, end > latest { (isSummer, latest) = (false, end) }
            let begin = summer.begin.localSeconds(in: year) - Int64(standard)
            // Summer time that begins as it ends lasts all year.
            if begin <= second, begin >= latest { (isSummer, latest) = (true, begin) }
        }
        return isSummer ? summer.offset : standard
    }
}

/// Reads a rule.
private struct ZoneRuleScanner {
    /// The longest rule; those of the database have at most 50 bytes.
    private static let longest = 200
    private var rest: ArraySlice<UInt8>

    init(_ text: String) { rest = Array(text.utf8)[...] }

    mutating func rule() -> (standard: Int, summer: ZoneRule.Summer?)? {
        guard rest.count <= Self.longest, takeName(), let west = clock(hours: 0...24) else { return nil }
        let standard = -west
        guard Self.allowed.contains(standard) else { return nil }
        if rest.isEmpty { return (standard, nil) }
        guard takeName() else { return nil }
        var offset = standard + 3600
        if let next = rest.first, next != UInt8(ascii: ",") {
            guard let west = clock(hours: 0...24) else { return nil }
            offset = -west
        }
        guard Self.allowed.contains(offset) else { return nil }
        // POSIX leaves open when summer time begins without a rule. The C library takes the rule of the United States.
        if rest.isEmpty { rest = Array(",M3.2.0,M11.1.0".utf8)[...] }
        guard take(","), let begin = moment(), take(","), let end = moment(), rest.isEmpty else { return nil }
        return (standard, ZoneRule.Summer(offset: offset, begin: begin, end: end))
    }

    private static let allowed = -18 * 3600...18 * 3600

    /// Three letters or more; between `<` and `>` also digits and signs.
    private mutating func takeName() -> Bool {
        let isQuoted = take("<")
        let name = rest.prefix { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"): isQuoted
            default: false
            }
        }
        rest = rest.dropFirst(name.count)
        return name.count >= 3 && (!isQuoted || take(">"))
    }

    private mutating func moment() -> ZoneRule.Moment? {
        let day: ZoneRule.Moment.Day
        if take("M") {
            guard let month = number(1...12), take("."), let week = number(1...5), take("."),
                let weekday = number(0...6)
            else { return nil }
            day = .weekday(weekday, week: week, month: month)
        } else if take("J") {
            guard let number = number(1...365) else { return nil }
            day = .withoutLeapDay(number)
        } else {
            guard let number = number(0...365) else { return nil }
            day = .ofYear(number)
        }
        guard take("/") else { return ZoneRule.Moment(day: day, seconds: 7200) }
        // POSIX has 0 to 24 hours; zone files have a week in both directions.
        return clock(hours: 0...167).map { ZoneRule.Moment(day: day, seconds: $0) }
    }

    /// Hours, and minutes and seconds if there are any, with a sign if there is one.
    private mutating func clock(hours: ClosedRange<Int>) -> Int? {
        let isNegative = take("-")
        if !isNegative { _ = take("+") }
        guard let hour = number(hours) else { return nil }
        var seconds = hour * 3600
        for unit in [60, 1] {
            guard take(":") else { break }
            guard let number = number(0...59) else { return nil }
            seconds += number * unit
        }
        return isNegative ? -seconds : seconds
    }

    /// One to three digits.
    private mutating func number(_ range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix(3).prefix { (48...57).contains($0) }
        rest = rest.dropFirst(digits.count)
        let value = digits.reduce(0) { $0 * 10 + Int($1 - 48) }
        return !digits.isEmpty && range.contains(value) ? value : nil
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }
}
