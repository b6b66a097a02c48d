/// Formats Unix milliseconds as RFC 3339 in UTC, with milliseconds.
enum LogTimestamp {
    /// Appends `2026-01-01T12:00:00.000Z`. Years outside 0 to 9999 are clamped.
    static func append(_ milliseconds: Int64, to bytes: inout [UInt8]) {
        let clamped = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
        let (days, inDay) = floorDivide(clamped, 86_400_000)
        let date = civil(daysSinceEpoch: days)
        digits(date.year, 4, &bytes)
        bytes.append(UInt8(ascii: "-"))
        digits(date.month, 2, &bytes)
        bytes.append(UInt8(ascii: "-"))
        digits(date.day, 2, &bytes)
        bytes.append(UInt8(ascii: "T"))
        digits(inDay / 3_600_000, 2, &bytes)
        bytes.append(UInt8(ascii: ":"))
        digits(inDay / 60_000 % 60, 2, &bytes)
        bytes.append(UInt8(ascii: ":"))
        digits(inDay / 1000 % 60, 2, &bytes)
        bytes.append(UInt8(ascii: "."))
        digits(inDay % 1000, 3, &bytes)
        bytes.append(UInt8(ascii: "Z"))
    }

    /// Converts days to a civil date. Internally years begin in March, so that the leap day is the last of its year.
    private static func civil(daysSinceEpoch: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = floorDivide(daysSinceEpoch + 719_468, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func digits(_ value: Int64, _ count: Int, _ bytes: inout [UInt8]) {
        var divisor: Int64 = 1
        for _ in 1..<count { divisor *= 10 }
        while divisor > 0 {
            bytes.append(0x30 + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }
}
