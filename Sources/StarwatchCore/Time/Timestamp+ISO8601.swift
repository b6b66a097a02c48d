/// A time in JSON: RFC 3339 in UTC with milliseconds, such as `2026-01-01T12:00:00.000Z`.
public typealias TimeText = String

extension Timestamp {
    /// The time in RFC 3339 form, UTC, with milliseconds: `2026-01-01T12:00:00.000Z`.
    public var iso8601: String {
        let t = CivilTime(self)
        let parts: [(value: Int, scale: Int, end: Unicode.Scalar)] = [
            (t.year, 1000, "-"), (t.month, 10, "-"), (t.day, 10, "T"), (t.hour, 10, ":"), (t.minute, 10, ":"),
            (t.second, 10, "."), (t.millisecond, 100, "Z"),
        ]
        var bytes: [UInt8] = []
        bytes.reserveCapacity(24)
        for part in parts {
            var scale = part.scale
            while scale > 0 {
                bytes.append(UInt8(48 + part.value / scale % 10))
                scale /= 10
            }
            bytes.append(UInt8(ascii: part.end))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The time in UTC for a person, `12:00:05 UTC`, with the date if that is not the day of `now`.
    package func clock(on now: Timestamp) -> String {
        let (text, day) = (iso8601, iso8601.prefix(10))
        let clock = text.dropFirst(11).prefix(8)
        return day == now.iso8601.prefix(10) ? "\(clock) UTC" : "\(day) \(clock) UTC"
    }

    /// Parses an RFC 3339 time: `T` or a space, an optional fraction, and `Z` or a numeric offset.
    ///
    /// `nil` for other texts and for impossible dates. Digits beyond milliseconds are dropped.
    public init?(iso8601 text: some StringProtocol) {
        var text = String(text)
        guard let time = text.withUTF8({ Timestamp(iso8601: $0) }) else { return nil }
        self = time
    }

    /// Parses an RFC 3339 time in UTF-8.
    init?(iso8601 b: UnsafeBufferPointer<UInt8>) {
        @inline(__always)
        func number(_ from: Int, _ count: Int) -> Int? {
            guard from + count <= b.count else { return nil }
            var value = 0
            for byte in b[from..<from + count] {
                guard byte >= 48, byte <= 57 else { return nil }
                value = value * 10 + Int(byte - 48)
            }
            return value
        }
        guard b.count >= 20, b[4] == UInt8(ascii: "-"), b[7] == UInt8(ascii: "-"),
            b[10] == UInt8(ascii: "T") || b[10] == UInt8(ascii: "t") || b[10] == UInt8(ascii: " "),
            b[13] == UInt8(ascii: ":"), b[16] == UInt8(ascii: ":"),
            let year = number(0, 4), let month = number(5, 2), let day = number(8, 2),
            let hour = number(11, 2), let minute = number(14, 2), let second = number(17, 2),
            (1...12).contains(month), day >= 1, day <= CivilTime.daysInMonth(year: year, month: month),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        var at = 19
        var millisecond = 0
        if b[at] == UInt8(ascii: ".") {
            at += 1
            var scale = 100
            let start = at
            while at < b.count, b[at] >= 48, b[at] <= 57 {
                millisecond += Int(b[at] - 48) * scale
                scale /= 10
                at += 1
            }
            guard at > start else { return nil }
        }
        var offset = 0
        guard at < b.count else { return nil }
        if b[at] == UInt8(ascii: "Z") || b[at] == UInt8(ascii: "z") {
            guard at == b.count - 1 else { return nil }
        } else {
            guard b[at] == UInt8(ascii: "+") || b[at] == UInt8(ascii: "-"), b.count == at + 6,
                b[at + 3] == UInt8(ascii: ":"),
                let hours = number(at + 1, 2), let minutes = number(at + 4, 2), hours < 24, minutes < 60
            else { return nil }
            offset = (hours * 3600 + minutes * 60) * (b[at] == UInt8(ascii: "-") ? -1 : 1)
        }
        let civil = CivilTime(
            year: year,
            month: month,
            day: day,
            hour: hour,
            minute: minute,
            second: second,
            millisecond: millisecond
        )
        self = civil.timestamp(offsetSeconds: offset)
    }
}
