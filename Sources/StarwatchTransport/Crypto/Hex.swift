/// Hexadecimal encoding.
package enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Encodes each byte as two lower-case digits.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.underestimatedCount * 2)
        for byte in bytes {
            output.append(digits[Int(byte >> 4)])
            output.append(digits[Int(byte & 15)])
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Decodes pairs of digits, ignoring case; `nil` for an odd count or other characters.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 2 == 0 else { return nil }
        var output: [UInt8] = []
        var high: UInt8?
        for byte in text {
            let value: UInt8
            switch byte {
            case 48...57: value = byte - 48
            case 65...70: value = byte - 55
            case 97...102: value = byte - 87
            default: return nil
            }
            if let first = high {
                output.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return output
    }
}
