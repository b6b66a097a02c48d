/// Decoding of characters behind which ASCII can hide: HTML entities, full-width forms, and characters without width,
/// each also percent-encoded or escaped.
extension RedactionScanner {
    /// The ASCII character that a hidden character stands for, or `nil` if it has no width, and its number of bytes.
    typealias HiddenUnit = (value: UInt8?, length: Int)

    /// The hidden character at a position; `nil` for others. Quotes, backslashes, ampersands, `<`, `>` and spaces are not
    /// decoded, because they would end the string, parameter or address that contains them.
    @inline(never)
    func hiddenUnit(at position: Int) -> HiddenUnit? {
        let first = unit(at: position)
        if first.value == UInt8(ascii: "&") { return entity(after: position + first.length, from: position) }
        guard first.value == 0xFF else { return nil }
        if bytes[position] == 0x5C {
            let end = position + first.length
            guard let high = hexByte(at: end - 4), let low = hexByte(at: end - 2) else { return nil }
            return Self.hidden(UInt32(high) << 8 | UInt32(low), length: first.length)
        }
        guard let (scalar, length) = scalar(at: position) else { return nil }
        return Self.hidden(scalar, length: length)
    }

    private static func hidden(_ scalar: UInt32, length: Int) -> HiddenUnit? {
        switch scalar {
        case 0xFF01...0xFF5E: return decoded(scalar - 0xFEE0, length: length)
        // Soft hyphen, grapheme joiner, Mongolian vowel separator, joiners and marks of direction, variation selectors,
        // byte order mark.
        case 0xAD, 0x34F, 0x180E, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2069, 0xFE00...0xFE0F, 0xFEFF:
            return (nil, length)
        default: return nil
        }
    }

    private static func decoded(_ scalar: UInt32, length: Int) -> HiddenUnit? {
        guard (0x21...0x7E).contains(scalar), case let value = UInt8(scalar), !#""&'<>\"#.utf8.contains(value) else {
            return nil
        }
        return (value, length)
    }

    /// The scalar of two or three bytes of UTF-8, each plain or percent-encoded.
    private func scalar(at position: Int) -> (UInt32, Int)? {
        guard let first = octet(at: position) else { return nil }
        let count: Int
        switch first.value {
        case 0xC2...0xDF: count = 1
        case 0xE0...0xEF: count = 2
        default: return nil
        }
        var scalar = UInt32(first.value) & (count == 1 ? 0x1F : 0x0F)
        var end = position + first.length
        for _ in 0..<count {
            guard let next = octet(at: end), next.value & 0xC0 == 0x80 else { return nil }
            scalar = scalar << 6 | UInt32(next.value & 0x3F)
            end += next.length
        }
        return (scalar, end - position)
    }

    private func octet(at position: Int) -> Unit? {
        guard position < bytes.count else { return nil }
        return bytes[position] == 0x25 ? percentByte(at: position) : (bytes[position], 1)
    }

    // MARK: - Entities

    private static let entities: [String: UInt32] = [
        "colon": 0x3A, "period": 0x2E, "commat": 0x40, "sol": 0x2F, "lowbar": 0x5F, "UnderBar": 0x5F, "equals": 0x3D,
        "plus": 0x2B, "percnt": 0x25, "num": 0x23, "quest": 0x3F, "comma": 0x2C, "semi": 0x3B, "lpar": 0x28,
        "rpar": 0x29, "shy": 0xAD, "zwj": 0x200D, "zwnj": 0x200C, "lrm": 0x200E, "rlm": 0x200F, "NoBreak": 0x2060,
        "ZeroWidthSpace": 0x200B,
    ]
    private static let longestEntity = 16

    /// The character of `&#58;`, `&#x3a;`, `&colon;` or `&amp;#58;`, after its ampersand.
    private func entity(after next: Int, from start: Int) -> HiddenUnit? {
        var position = next
        while let (scalar, end) = entity(at: position) {
            position = end
            if scalar == 0x26 { continue }
            return Self.hidden(scalar, length: end - start) ?? Self.decoded(scalar, length: end - start)
        }
        return nil
    }

    /// The scalar of an entity's name and the position after it. Only decimal numbers need no semicolon.
    private func entity(at start: Int) -> (scalar: UInt32, end: Int)? {
        var name: [UInt8] = []
        var position = start
        while position < bytes.count, name.count < Self.longestEntity, case let unit = unit(at: position),
            Self.continues(name, with: unit.value)
        {
            name.append(unit.value)
            position += unit.length
        }
        guard !name.isEmpty, let scalar = Self.scalar(ofEntity: name) else { return nil }
        if position < bytes.count, case let unit = unit(at: position), unit.value == UInt8(ascii: ";") {
            return (scalar, position + unit.length)
        }
        return name[0] == UInt8(ascii: "#") && name[1].isDigit ? (scalar, position) : nil
    }

    /// Whether a character belongs to an entity that begins with a name: letters and digits, or after `#` only digits.
    private static func continues(_ name: [UInt8], with value: UInt8) -> Bool {
        guard let first = name.first else { return value.isLetter || value == UInt8(ascii: "#") }
        guard first == UInt8(ascii: "#") else { return value.isLetter || value.isDigit }
        guard name.count > 1 else { return value.isDigit || value | 0x20 == UInt8(ascii: "x") }
        return name[1].isDigit ? value.isDigit : hexDigit(value) != nil
    }

    private static func scalar(ofEntity name: [UInt8]) -> UInt32? {
        guard name[0] == UInt8(ascii: "#") else {
            let name = String(decoding: name, as: UTF8.self)
            return name == "amp" ? 0x26 : entities[name]
        }
        let isHex = name.count > 1 && name[1] | 0x20 == UInt8(ascii: "x")
        let digits = name.dropFirst(isHex ? 2 : 1)
        guard !digits.isEmpty else { return nil }
        var scalar: UInt32 = 0
        for byte in digits {
            guard let digit = hexDigit(byte), isHex || digit < 10, scalar < 0x11_0000 else { return nil }
            scalar = scalar * (isHex ? 16 : 10) + UInt32(digit)
        }
        return scalar
    }
}
