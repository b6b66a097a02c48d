/// Numbers in a JSON text.
enum JSONNumber {
    /// The value; `nil` if it is not JSON's form of a number, infinite, or too small for anything but zero.
    static func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> Double? {
        guard let parts = Parts(bytes) else { return nil }
        // Numbers with few digits need no text: a whole number and a power of ten that are exact give an exactly rounded
        // quotient.
        if parts.hasExactParts {
            let value = Double(parts.digits) / powers[parts.fraction]
            return bytes[0] == UInt8(ascii: "-") ? -value : value
        }
        guard let value = Double(String(decoding: bytes, as: UTF8.self)), value.isFinite else { return nil }
        return value != 0 || parts.isZero ? value : nil
    }

    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    ]

    private struct Parts {
        /// The digits before the exponent; wrong if there are more than 18.
        var digits: UInt64 = 0
        /// The number of digits after the point.
        var fraction = 0
        var isZero: Bool
        var hasExactParts: Bool

        /// `nil` if the bytes are not JSON's form of a number.
        init?(_ bytes: UnsafeBufferPointer<UInt8>) {
            var at = bytes.first == UInt8(ascii: "-") ? 1 : 0
            var digits: UInt64 = 0
            var isZero = true
            func skipDigits() -> Int {
                let start = at
                while at < bytes.count, (48...57).contains(bytes[at]) {
                    if bytes[at] != 48 { isZero = false }
                    digits = digits &* 10 &+ UInt64(bytes[at] - 48)
                    at += 1
                }
                return at - start
            }
            let start = at
            let whole = skipDigits()
            guard whole == 1 || (whole > 1 && bytes[start] != 48) else { return nil }
            if at < bytes.count, bytes[at] == UInt8(ascii: ".") {
                at += 1
                fraction = skipDigits()
                guard fraction > 0 else { return nil }
            }
            (self.digits, self.isZero) = (digits, isZero)
            hasExactParts = at == bytes.count && whole + fraction <= 18 && digits < 1 << 53
            if at < bytes.count, bytes[at] | 0x20 == UInt8(ascii: "e") {
                at += 1
                if at < bytes.count, bytes[at] == UInt8(ascii: "-") || bytes[at] == UInt8(ascii: "+") { at += 1 }
                guard skipDigits() > 0 else { return nil }
            }
            guard at == bytes.count else { return nil }
        }
    }
}
