/// A date and time of the proleptic Gregorian calendar, without a zone.
///
/// Computes with days since 0000-03-01 in 400-year eras. This needs no tables and no calendar object, so a schedule can
/// be computed a million times a second.
public struct CivilTime: Sendable, Hashable {
    public var year: Int
    /// 1…12.
    public var month: Int
    /// 1…31.
    public var day: Int
    public var hour: Int
    public var minute: Int
    public var second: Int
    /// 0…999.
    public var millisecond: Int

    public init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0, millisecond: Int = 0)
    {
        (self.year, self.month, self.day, self.hour) = (year, month, day, hour)
        (self.minute, self.second, self.millisecond) = (minute, second, millisecond)
    }

    /// The civil time of `timestamp` in a zone `offsetSeconds` east of UTC.
    public init(_ timestamp: Timestamp, offsetSeconds: Int = 0) {
        let ms = timestamp.milliseconds + Int64(offsetSeconds) * 1000
        let days = ms >= 0 ? ms / 86_400_000 : -((-ms + 86_399_999) / 86_400_000)
        let rest = Int(ms - days * 86_400_000)
        let (year, month, day) = Self.civil(fromDays: Int(days))
        self.init(
            year: year,
            month: month,
            day: day,
            hour: rest / 3_600_000,
            minute: rest / 60_000 % 60,
            second: rest / 1000 % 60,
            millisecond: rest % 1000
        )
    }

    /// The timestamp of this civil time in a zone `offsetSeconds` east of UTC.
    public func timestamp(offsetSeconds: Int = 0) -> Timestamp {
        let days = Int64(Self.days(year: year, month: month, day: day))
        let seconds = days * 86_400 + Int64(hour * 3600 + minute * 60 + second - offsetSeconds)
        return Timestamp(milliseconds: seconds * 1000 + Int64(millisecond))
    }

    /// The day of the week, 0 = Sunday … 6 = Saturday.
    public var weekday: Int {
        let days = Self.days(year: year, month: month, day: day)
        return ((days % 7) + 11) % 7
    }

    /// Days since 1970-01-01 of a civil date.
    public static func days(year: Int, month: Int, day: Int) -> Int {
        let y = month <= 2 ? year - 1 : year
        let era = (y >= 0 ? y : y - 399) / 400
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The civil date that is `days` after 1970-01-01.
    public static func civil(fromDays days: Int) -> (year: Int, month: Int, day: Int) {
        let z = days + 719_468
        let era = (z >= 0 ? z : z - 146_096) / 146_097
        let dayOfEra = z - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let mp = (5 * dayOfYear + 2) / 153
        let month = mp < 10 ? mp + 3 : mp - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * mp + 2) / 5 + 1)
    }

    /// The number of days of a month.
    public static func daysInMonth(year: Int, month: Int) -> Int {
        switch month {
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
