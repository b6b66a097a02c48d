/// Percent-encoding (RFC 3986).
package enum PercentEncoding {
    private static let hex = Array("0123456789ABCDEF".utf8)

    /// Escapes every byte except the unreserved ones: letters, digits, `-`, `.`, `_` and `~`.
    package static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 8)
        for byte in text.utf8 {
            if isUnreserved(byte) { bytes.append(byte) } else { appendEscape(of: byte, to: &bytes) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func appendEscape(of byte: UInt8, to bytes: inout [UInt8]) {
        bytes += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
    }

    /// The length of a text after ``encode(_:)``.
    static func length(of text: [UInt8]) -> Int { text.reduce(0) { $0 + (isUnreserved($1) ? 1 : 3) } }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || byte == 45 || byte == 46 || byte == 95 || byte == 126
    }

    /// Decodes every escape; `nil` for a malformed escape, or when the bytes are not UTF-8.
    ///
    /// - Parameter plusIsSpace: Whether `+` is a space, as in a form's query.
    package static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
    }
}
