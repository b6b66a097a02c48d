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
        guard let (value, length) = percentByte(at: position) else { return (0x25, 1) }
        return (value < 0x80 ? value : 0xFF, length)
    }

    /// The byte that a percent sign encodes; `nil` if it encodes none.
    @inline(__always)
    func percentByte(at position: Int) -> Unit? {
        guard var value = hexByte(at: position + 1) else { return nil }
        var length = 3
        // An encoded percent sign begins a doubly encoded character.
        while value == 0x25, let inner = hexByte(at: position + length) {
            value = inner
            length += 2
        }
        return (value, length)
    }

    /// The limit of an escape's backslashes and of percent signs encoded in each other, so that a long line of them takes
    /// no quadratic time.
    private static let longestEscape = 64

    private func backslashUnit(at position: Int) -> Unit {
        var next = position
        let end = min(bytes.count, position + Self.longestEscape)
        while next < end, bytes[next] == 0x5C { next += 1 }
        guard next < bytes.count else { return (0x5C, 1) }
        if bytes[next] == UInt8(ascii: "/") { return (bytes[next], next + 1 - position) }
        if bytes[next] == UInt8(ascii: "u"), let high = hexByte(at: next + 1), let low = hexByte(at: next + 3) {
            return (high == 0 && low < 0x80 ? low : 0xFF, next + 5 - position)
        }
        return (0x5C, 1)
    }

    /// The byte of two hexadecimal digits; `nil` for other characters or the end of the line.
    func hexByte(at position: Int) -> UInt8? {
        guard position >= 0, position + 1 < bytes.count, let high = Self.hexDigit(bytes[position]),
            let low = Self.hexDigit(bytes[position + 1])
        else { return nil }
        return high << 4 | low
    }

    static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }

    /// The character that ends at a position greater than 0, and its start. An escape such as `\n` is a control character.
    func unit(before end: Int) -> (value: UInt8, start: Int) {
        let last = bytes[end - 1]
        if let value = hexByte(at: end - 2), let start = escapeStart(ofDigits: end - 2) {
            return (value < 0x80 && (bytes[start] == 0x25 || hexByte(at: end - 4) == 0) ? value : 0xFF, start)
        }
        guard end > 1, bytes[end - 2] == 0x5C, "nrtbf/".utf8.contains(last) else {
            return (last < 0x80 ? last : 0xFF, end - 1)
        }
        var start = end - 2
        while start > 0, bytes[start - 1] == 0x5C { start -= 1 }
        return (last == UInt8(ascii: "/") ? last : 0x0A, start)
    }

    /// The start of the escape whose last two hexadecimal digits are at a position: `%3A`, `%253A`, `\u003a`.
    private func escapeStart(ofDigits position: Int) -> Int? {
        guard position > 0 else { return nil }
        if bytes[position - 1] == 0x25 { return position - 1 }
        var start = position
        // `%2564`: encoded percent signs.
        while start >= 3, position - start < Self.longestEscape, hexByte(at: start - 2) == 0x25 {
            start -= 2
            if bytes[start - 1] == 0x25 { return start - 1 }
        }
        start = position - 4
        guard start >= 0, bytes[start] == 0x5C, bytes[start + 1] == UInt8(ascii: "u"), hexByte(at: start + 2) != nil
        else { return nil }
        while start > 0, bytes[start - 1] == 0x5C { start -= 1 }
        return start
    }

    /// The start of the plain or encoded letter that ends at a position, ignoring case; `nil` for another character.
    ///
    /// The letter can be in text that is already replaced: a replaced token can be followed by the rest of a DID.
    func start(of letter: UInt8, before end: Int) -> Int? {
        guard end > 0 else { return nil }
        if bytes[end - 1] | 0x20 == letter { return end - 1 }
        guard end >= 3, let value = hexByte(at: end - 2), value | 0x20 == letter,
            let start = escapeStart(ofDigits: end - 2), bytes[start] == 0x25 || hexByte(at: end - 4) == 0
        else { return nil }
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
        guard end - start == text.utf8.count else { return false }
        var position = start
        for byte in text.utf8 {
            guard bytes[position] == byte else { return false }
            position += 1
        }
        return true
    }
}
