/// A line as a reader can understand it: its characters, and the place of each in the line.
///
/// A line can have several readings: its bytes, the same without the escapes of JSON, and then without one more layer of
/// percent encoding, HTML entities and full-width forms each. `secret=a%26b` is one value in the first and ends at the
/// ampersand in the last, so each is searched.
struct Reading {
    /// A character and the number of characters that encode it; `nil` for one without width.
    private typealias Decoded = (character: UInt8?, length: Int)

    private var characters: [UInt8]
    /// The range of each character in the line. Empty if each character is the byte at its position.
    private var origins: [Range<Int>] = []

    /// The bytes of a line.
    init(_ line: [UInt8]) { characters = line }

    /// The ranges of the line to replace according to this reading.
    var replacements: [Replacement] {
        characters.withUnsafeBufferPointer { text in
            var scanner = RedactionScanner(text: text, origins: origins)
            return scanner.run().map { (origin(of: $0.range), $0.kind) }
        }
    }

    private func origin(of range: Range<Int>) -> Range<Int> {
        origins.isEmpty ? range : origins[range.lowerBound].lowerBound..<origins[range.upperBound - 1].upperBound
    }

    /// The replacements without parts of this reading's escapes: half an escape is no JSON.
    func withoutCutEscapes(_ replacements: [Replacement], in line: [UInt8]) -> [Replacement] {
        var isInEscape = [Bool](repeating: true, count: line.count) + [false]
        for origin in origins where !origin.isEmpty { isInEscape[origin.lowerBound] = false }
        return replacements.compactMap { replacement in
            var (start, end) = (replacement.range.lowerBound, replacement.range.upperBound)
            while start < end, isInEscape[start] { start += 1 }
            while start < end, isInEscape[end] { end -= 1 }
            return start < end ? (start..<end, replacement.kind) : nil
        }
    }

    // MARK: - Decoding

    /// The reading with `\u003a`, `\\u003a`, `\/`, `\"` and `\n` decoded; `nil` if there is none.
    func unescaped() -> Reading? { characters.contains(0x5C) ? reading(escape) : nil }

    /// The reading with one layer of `%3A`, `&colon;` and full-width forms decoded, and without characters that have no
    /// width; `nil` if there is none.
    func decoded() -> Reading? {
        guard characters.contains(where: { $0 == 0x25 || $0 == 0x26 || $0 >= 0xC2 }) else { return nil }
        return reading {
            characters[$0] == 0x25 ? percent(at: $0) : characters[$0] == 0x26 ? entity(at: $0) : form(at: $0)
        }
    }

    /// The reading with the characters that a function decodes; `nil` if it decodes none.
    private func reading(_ decode: (Int) -> Decoded?) -> Reading? {
        var next = Reading([])
        var position = 0
        while position < characters.count {
            let decoded = decode(position) ?? (characters[position], 1)
            let origin = origin(of: position..<position + decoded.length)
            position += decoded.length
            if let character = decoded.character { next.append(character, origin) }
            // The last digit of an escape can be the first letter of a DID: `%2did:`, `\u00adid:`.
            if decoded.length > 1, characters[position - 1] | 0x20 == UInt8(ascii: "d"), position < characters.count,
                characters[position] | 0x20 == UInt8(ascii: "i")
            {
                next.append(UInt8(ascii: "d"), origin.upperBound..<origin.upperBound)
            }
        }
        return next.characters.count < characters.count ? next : nil
    }

    private mutating func append(_ character: UInt8, _ origin: Range<Int>) {
        characters.append(character)
        origins.append(origin)
    }

    /// The ASCII character that a scalar stands for: 0xFF for any other, `nil` for one without width.
    private static func character(_ scalar: UInt32) -> UInt8? {
        switch scalar {
        // A decoded line feed ends no line.
        case 0x0A: 0x01
        case 0..<0x80: UInt8(scalar)
        case 0xFF01...0xFF5E: UInt8(scalar - 0xFEE0)
        // Soft hyphen, grapheme joiner, Mongolian vowel separator, joiners and marks of direction, variation selectors,
        // byte order mark.
        case 0xAD, 0x34F, 0x180E, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2069, 0xFE00...0xFE0F, 0xFEFF: nil
        default: 0xFF
        }
    }

    /// The escape that begins at a backslash. A quote after an even number of backslashes is not escaped.
    private func escape(at start: Int) -> Decoded? {
        guard characters[start] == 0x5C, start == 0 || characters[start - 1] != 0x5C,
            let letter = characters[start...].firstIndex(where: { $0 != 0x5C })
        else { return nil }
        let length = letter + 1 - start
        switch characters[letter] {
        case UInt8(ascii: "\""): return length.isMultiple(of: 2) ? (0x22, length) : nil
        case UInt8(ascii: "/"): return (0x2F, length)
        case UInt8(ascii: "t"): return (0x09, length)
        case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "b"), UInt8(ascii: "f"): return (0x01, length)
        case UInt8(ascii: "u"):
            guard let high = hexByte(at: letter + 1), let low = hexByte(at: letter + 3) else { return nil }
            return (Self.character(UInt32(high) << 8 | UInt32(low)), length + 4)
        default: return nil
        }
    }

    /// A percent-encoded byte. No control character: `%17` is more likely a percent sign before an identifier.
    private func percent(at start: Int) -> Decoded? {
        guard let byte = hexByte(at: start + 1), byte >= 0x20 || [0x09, 0x0A, 0x0D].contains(byte) else { return nil }
        return (byte == 0x0A ? 0x01 : byte, 3)
    }

    /// A full-width form, or a character without width.
    private func form(at start: Int) -> Decoded? {
        guard (0xC2...0xEF).contains(characters[start]) else { return nil }
        let length = characters[start] < 0xE0 ? 2 : 3
        let rest = characters[(start + 1)...].prefix(length - 1)
        guard rest.count == length - 1, rest.allSatisfy({ $0 & 0xC0 == 0x80 }) else { return nil }
        let first = UInt32(characters[start]) & (length == 2 ? 0x1F : 0x0F)
        let character = Self.character(rest.reduce(first) { $0 << 6 | UInt32($1 & 0x3F) })
        return character == 0xFF ? nil : (character, length)
    }

    /// The byte of two hexadecimal digits; `nil` for other characters or the end of the line.
    private func hexByte(at position: Int) -> UInt8? {
        let digits = characters.dropFirst(position).prefix(2)
        guard digits.count == 2, digits.allSatisfy(ByteSet.hex.contains) else { return nil }
        return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private static let entities: [String: UInt32] = [
        "amp": 0x26, "colon": 0x3A, "period": 0x2E, "commat": 0x40, "sol": 0x2F, "lowbar": 0x5F, "UnderBar": 0x5F,
        "equals": 0x3D, "plus": 0x2B, "percnt": 0x25, "num": 0x23, "quest": 0x3F, "comma": 0x2C, "semi": 0x3B,
        "lpar": 0x28, "rpar": 0x29, "shy": 0xAD, "zwj": 0x200D, "zwnj": 0x200C, "lrm": 0x200E, "rlm": 0x200F,
        "NoBreak": 0x2060, "ZeroWidthSpace": 0x200B,
    ]
    private static let longestEntity = 16

    /// `&#58;`, `&#x3a;`, `&#58` or `&colon;`, but no control character. Only a decimal number needs no semicolon.
    private func entity(at start: Int) -> Decoded? {
        let name = characters[(start + 1)...].prefix(Self.longestEntity)
        let isNumber = name.first == UInt8(ascii: "#")
        let isHex = isNumber && name.dropFirst().first.map { $0 | 0x20 } == UInt8(ascii: "x")
        let set = isHex ? ByteSet.hex : isNumber ? .digit : .alphanumeric
        let digits = name.dropFirst(isHex ? 2 : isNumber ? 1 : 0).prefix(while: set.contains)
        let text = String(decoding: digits, as: UTF8.self)
        let isEnded = characters.dropFirst(digits.endIndex).first == UInt8(ascii: ";")
        guard let scalar = isNumber ? UInt32(text, radix: isHex ? 16 : 10) : Self.entities[text],
            (0x20..<0x11_0000).contains(scalar), isEnded || isNumber && !isHex
        else { return nil }
        return (Self.character(scalar), digits.endIndex + (isEnded ? 1 : 0) - start)
    }
}
