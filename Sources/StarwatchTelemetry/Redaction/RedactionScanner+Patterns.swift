/// Matches found by their form.
extension RedactionScanner {
    /// The DID with its first colon at a position: `did`, a method, an identifier, and an optional fragment or path.
    func did(colon: Int, next: Int) -> Match? {
        guard let third = start(of: UInt8(ascii: "d"), before: colon),
            let second = start(of: UInt8(ascii: "i"), before: third),
            let letter = start(of: UInt8(ascii: "d"), before: second)
        else { return nil }
        // In JSON the first letter can be the last digit of an escape. The escape is kept; the rest is redacted.
        let first = endsEscape(at: letter) ? second : letter
        var position = next
        while position < bytes.count {
            let unit = unit(at: position)
            guard unit.value.isLetter || unit.value.isDigit else { break }
            position += unit.length
        }
        let methodEnd = position
        guard methodEnd > next, position < bytes.count else { return nil }
        let colon = unit(at: position)
        guard colon.value == UInt8(ascii: ":") else { return nil }
        position += colon.length
        let idStart = position
        while position < bytes.count {
            let unit = unit(at: position)
            guard Self.isPartOfDID(unit.value) else { break }
            position += unit.length
        }
        // A full stop or colon at the end belongs to the sentence, not to the DID.
        while position > idStart + 1, bytes[position - 1] == 0x2E || bytes[position - 1] == 0x3A { position -= 1 }
        guard position > idStart else { return nil }
        if holds("hash", from: next, to: methodEnd), colon.length == 1, isPseudonym(from: idStart, to: position) {
            return Match(start: first, end: position, kind: nil)
        }
        return Match(start: first, end: position, kind: .did)
    }

    /// Whether a range has 16 hexadecimal digits in lower case (R-LOG-05).
    func isPseudonym(from start: Int, to end: Int) -> Bool {
        end - start == 16 && bytes[start..<end].allSatisfy { $0.isDigit || (0x61...0x66).contains($0) }
    }

    private static func isPartOfDID(_ value: UInt8) -> Bool {
        if value.isLetter || value.isDigit || value >= 0x80 { return true }
        switch value {
        case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "%"),
            UInt8(ascii: "#"), UInt8(ascii: "/"):
            return true
        default: return false
        }
    }

    /// The text between `://` and `@`.
    func userInformation(colon: Int, next: Int) -> Match? {
        guard next < bytes.count else { return nil }
        let first = unit(at: next)
        guard first.value == UInt8(ascii: "/"), next + first.length < bytes.count else { return nil }
        let second = unit(at: next + first.length)
        guard second.value == UInt8(ascii: "/") else { return nil }
        let start = next + first.length + second.length
        var position = start
        var end: Int?
        while position < bytes.count {
            let unit = unit(at: position)
            // A character that is escaped more often than the slashes is data, not a delimiter.
            if unit.length <= second.length || bytes[position] == 0x5C {
                if unit.value == UInt8(ascii: "@") { end = position }
                if Self.endsAuthority(unit.value) { break }
            }
            position += unit.length
        }
        guard let end, end > start, !holds(RedactionKind.token.replacement, from: start, to: end) else { return nil }
        return Match(start: start, end: end, kind: .token)
    }

    private static func endsAuthority(_ value: UInt8) -> Bool {
        switch value {
        case 0...0x20, 0x7F, UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\""),
            UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"):
            return true
        default: return false
        }
    }

    /// The token after `Bearer` and a space. The word `Bearer` is kept.
    func bearerToken(space: Int, next: Int) -> Match? {
        guard space >= 6, bytes[space - 1] | 0x20 == UInt8(ascii: "r") else { return nil }
        guard zip(bytes[space - 6..<space], "bearer".utf8).allSatisfy({ $0 | 0x20 == $1 }) else { return nil }
        var start = next
        while start < bytes.count, case let unit = unit(at: start), unit.value == 0x20 || unit.value == 0x09 {
            start += unit.length
        }
        var end = start
        while end < bytes.count, case let unit = unit(at: end), Self.isPartOfToken(unit.value) { end += unit.length }
        return end > start ? Match(start: start, end: end, kind: .token) : nil
    }

    /// Whether a character belongs to the token68 of RFC 7235.
    private static func isPartOfToken(_ value: UInt8) -> Bool {
        if isBase64URL(value) { return true }
        switch value {
        case UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): return true
        default: return false
        }
    }

    static func isBase64URL(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    /// The JWT with its first dot at a position. It begins with `eyJ`, the encoding of `{"`, and can be truncated after
    /// the first dot.
    func jsonWebToken(dot: Int) -> Match? {
        guard dot + 1 < bytes.count, Self.isBase64URL(bytes[dot + 1]) else { return nil }
        var runStart = dot
        while runStart > 0, Self.isBase64URL(bytes[runStart - 1]) { runStart -= 1 }
        runStart += escapeLength(at: runStart, before: dot)
        guard dot - runStart >= 10 else { return nil }
        var start = runStart
        while start <= dot - 10 {
            if bytes[start] == UInt8(ascii: "e"), bytes[start + 1] == UInt8(ascii: "y"),
                bytes[start + 2] == UInt8(ascii: "J")
            {
                break
            }
            start += 1
        }
        guard start <= dot - 10 else { return nil }
        var end = dot
        while end < bytes.count {
            let isDot = bytes[end] == 0x2E && end + 1 < bytes.count && Self.isBase64URL(bytes[end + 1])
            guard isDot || Self.isBase64URL(bytes[end]) else { break }
            end += 1
        }
        return Match(start: start, end: end, kind: .token)
    }
}
