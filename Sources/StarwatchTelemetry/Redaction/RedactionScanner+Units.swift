/// Decoding of characters: plain, `%3A`, `%253A`, `\u003a`, `\\u003a` and `\/`.
extension RedactionScanner {
    /// A character and its number of bytes. Every character beyond ASCII has the value 0xFF.
    typealias Unit = (value: UInt8, length: Int)

    /// The character at a valid position. A backslash that begins no escape stands for itself.
    @inline(__always)
    func unit(at position: Int) -> Unit {
        let byte = bytes[position]
        if byte == 0x25 { return percentUnit(at: position) }
        if byte == 0x5C { return backslashUnit(at: position) }
        return (byte < 0x80 ? byte : 0xFF, 1)
    }

    private func percentUnit(at position: Int) -> Unit {
        guard var value = hexByte(at: position + 1) else { return (0x25, 1) }
        var length = 3
        // An encoded percent sign begins a doubly encoded character.
        while value == 0x25, let inner = hexByte(at: position + length) {
            value = inner
            length += 2
        }
        return (value < 0x80 ? value : 0xFF, length)
    }

    private func backslashUnit(at position: Int) -> Unit {
        var next = position
        while next < bytes.count, bytes[next] == 0x5C { next += 1 }
        guard next < bytes.count else { return (0x5C, 1) }
        if bytes[next] == UInt8(ascii: "/") { return (bytes[next], next + 1 - position) }
        if bytes[next] == UInt8(ascii: "u"), let high = hexByte(at: next + 1), let low = hexByte(at: next + 3) {
            return (high == 0 && low < 0x80 ? low : 0xFF, next + 5 - position)
        }
        return (0x5C, 1)
    }

    /// The byte of two hexadecimal digits; `nil` for other characters or the end of the line.
    func hexByte(at position: Int) -> UInt8? {
        guard position + 1 < bytes.count, let high = Self.hexDigit(bytes[position]),
            let low = Self.hexDigit(bytes[position + 1])
        else { return nil }
        return high << 4 | low
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }

    /// The start of the plain or encoded letter that ends at a position, ignoring case; `nil` for another character.
    ///
    /// The letter can be in text that is already replaced: a replaced token can be followed by the rest of a DID.
    func start(of letter: UInt8, before end: Int) -> Int? {
        guard end > 0 else { return nil }
        if bytes[end - 1] | 0x20 == letter { return end - 1 }
        guard end >= 3, let value = hexByte(at: end - 2), value | 0x20 == letter else { return nil }
        if bytes[end - 3] == 0x25 { return end - 3 }
        var start = end - 2
        // `%2564`: any number of encoded percent signs.
        while start >= 3, hexByte(at: start - 2) == 0x25 {
            start -= 2
            if bytes[start - 1] == 0x25 { return start - 1 }
        }
        start = end - 6
        guard start >= 0, bytes[start] == 0x5C, bytes[start + 1] == UInt8(ascii: "u"), hexByte(at: start + 2) == 0
        else { return nil }
        while start > 0, bytes[start - 1] == 0x5C { start -= 1 }
        return start
    }

    /// Whether a byte is the last digit of an escape such as `\u0000`, and not a letter.
    func endsEscape(at position: Int) -> Bool {
        position >= 5 && bytes[position - 5] == 0x5C && bytes[position - 4] == UInt8(ascii: "u")
            && hexByte(at: position - 3) != nil && hexByte(at: position - 1) != nil
    }

    /// The number of bytes at a word's start that belong to an escape before it: `%3F`, `%253F`, `\n`, `\u0026`.
    func escapeLength(at start: Int, before end: Int) -> Int {
        guard start > 0, start < end else { return 0 }
        if bytes[start - 1] == 0x25, start + 2 <= end, let value = hexByte(at: start) {
            var length = 2
            var last = value
            while last == 0x25, start + length + 2 <= end, let inner = hexByte(at: start + length) {
                last = inner
                length += 2
            }
            return length
        }
        guard bytes[start - 1] == 0x5C else { return 0 }
        if bytes[start] == UInt8(ascii: "u"), start + 5 <= end, hexByte(at: start + 1) != nil { return 5 }
        return "nrtbf".utf8.contains(bytes[start]) ? 1 : 0
    }

    /// Whether the bytes in a range equal a text.
    func holds(_ text: String, from start: Int, to end: Int) -> Bool {
        end - start == text.utf8.count && zip(bytes[start..<end], text.utf8).allSatisfy(==)
    }
}
