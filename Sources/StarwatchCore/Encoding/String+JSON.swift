extension String {
    /// The text of the bytes between two quotes; `nil` if an escape is invalid, a control character is not escaped, or
    /// the bytes are not UTF-8.
    ///
    /// Half of a pair of surrogates becomes U+FFFD. JavaScript's texts can have one, and its `JSON.stringify` escapes it.
    static func json(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                guard byte >= 0x20 else { return nil }
                decoded.append(byte)
                continue
            }
            switch rest.popFirst() {
            case let byte? where "\"\\/".utf8.contains(byte): decoded.append(byte)
            case UInt8(ascii: "b"): decoded.append(0x08)
            case UInt8(ascii: "f"): decoded.append(0x0c)
            case UInt8(ascii: "n"): decoded.append(0x0a)
            case UInt8(ascii: "r"): decoded.append(0x0d)
            case UInt8(ascii: "t"): decoded.append(0x09)
            case UInt8(ascii: "u"):
                guard let scalar = scalar(&rest) else { return nil }
                decoded += UTF8.encode(scalar)!
            default: return nil
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    /// Reads the digits after `\u`, and the second half of a pair of surrogates.
    private static func scalar(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> Unicode.Scalar? {
        guard let unit = unit(&rest) else { return nil }
        guard UTF16.isLeadSurrogate(unit) else { return Unicode.Scalar(unit) ?? replacement }
        var following = rest
        guard following.popFirst() == UInt8(ascii: "\\"), following.popFirst() == UInt8(ascii: "u"),
            let second = Self.unit(&following), UTF16.isTrailSurrogate(second)
        else { return replacement }
        rest = following
        return UTF16.decode(UTF16.EncodedScalar([unit, second]))
    }

    private static let replacement: Unicode.Scalar = "\u{fffd}"

    private static func unit(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> UInt16? {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = rest.popFirst(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                return nil
            }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
