/// Identifiers and keys that are words, or parts of words between underscores.
extension RedactionScanner {
    /// The length of a ULID. Shorter words contain no secret.
    static let shortestSecret = 26

    /// The identifier or key in the part of a word that begins at a position. The part can follow the rest of an escape,
    /// such as `\n` or `%2F`.
    @inline(never)
    func secret(from start: Int, wordEnd: Int) -> Match? {
        var end = start
        while end < wordEnd, bytes[end] != 0x5F { end += 1 }
        if let first = first(ofLast: 26, from: start, to: end), isULID(at: first) {
            return Match(start: first, end: end, kind: .id)
        }
        if let first = first(ofLast: 10, from: start, to: end), let end = canonicalIDEnd(from: first, wordEnd: wordEnd)
        {
            return Match(start: first, end: end, kind: .id)
        }
        for length in [64, 66] {
            if let first = first(ofLast: length, from: start, to: end), isPrivateKey(from: first, to: end) {
                return Match(start: first, end: end, kind: .token)
            }
        }
        guard end - start >= Self.shortestSecret, holdsBase64DID(from: start, to: end) else { return nil }
        return Match(start: start + escapeLength(at: start, before: end), end: end, kind: .did)
    }

    /// The start of the last bytes of a range, if only the rest of an escape precedes them in it.
    private func first(ofLast length: Int, from start: Int, to end: Int) -> Int? {
        let first = end - length
        guard first >= start else { return nil }
        return first == start || isEscape(from: start, to: first) ? first : nil
    }

    /// Whether a range is the rest of an escape after `%` or a backslash.
    private func isEscape(from start: Int, to end: Int) -> Bool {
        guard start > flushed else { return false }
        switch (bytes[start - 1], end - start) {
        case (0x25, 2): return hexByte(at: start) != nil
        case (0x25, 4): return hexByte(at: start) == 0x25 && hexByte(at: start + 2) != nil
        case (0x5C, 1): return "nrtbf".utf8.contains(bytes[start])
        case (0x5C, 5): return bytes[start] == UInt8(ascii: "u")
        default: return false
        }
    }

    /// Whether 26 bytes are digits and letters of Crockford's base 32. With small letters the first digit is at most 7,
    /// which every ULID of a real time is.
    private func isULID(at start: Int) -> Bool {
        var hasSmallLetter = false
        for byte in bytes[start..<start + 26] {
            guard byte.isDigit || byte.isLetter else { return false }
            switch byte & ~0x20 {
            case UInt8(ascii: "I"), UInt8(ascii: "L"), UInt8(ascii: "O"), UInt8(ascii: "U"): return false
            default: hasSmallLetter = hasSmallLetter || byte.isLowercaseLetter
            }
        }
        return !hasSmallLetter || (0x30...0x37).contains(bytes[start])
    }

    /// The end of `1234567890_abCDef_01234567`, of which ten bytes are in a word.
    private func canonicalIDEnd(from start: Int, wordEnd: Int) -> Int? {
        let end = start + 26
        guard end <= wordEnd, end == wordEnd || bytes[end] == 0x5F else { return nil }
        guard bytes[start + 10] == 0x5F, bytes[start + 17] == 0x5F, isDigits(10, at: start),
            isAlphanumeric(6, at: start + 11), isSmallHex(8, at: start + 18)
        else { return nil }
        return end
    }

    /// Whether a range has 64 hexadecimal digits, optionally after `0x`.
    private func isPrivateKey(from start: Int, to end: Int) -> Bool {
        if end - start == 66 {
            guard bytes[start] == UInt8(ascii: "0"), bytes[start + 1] | 0x20 == UInt8(ascii: "x") else { return false }
        }
        return bytes[end - 64..<end].allSatisfy { $0.isDigit || (0x61...0x66).contains($0 | 0x20) }
    }

    /// Whether letters and digits contain the base64 of `did:` and another character, at any of three alignments.
    private func holdsBase64DID(from start: Int, to end: Int) -> Bool {
        for position in start..<end - 5 {
            switch bytes[position] {
            case UInt8(ascii: "Z"):
                guard holds("ZGlkO", from: position, to: position + 5) else { continue }
                if (UInt8(ascii: "g")...UInt8(ascii: "v")).contains(bytes[position + 5]) { return true }
            case UInt8(ascii: "G"), UInt8(ascii: "W"), UInt8(ascii: "m"), UInt8(ascii: "2"):
                guard holds("RpZD", from: position + 1, to: position + 5) else { continue }
                if bytes[position + 5] == UInt8(ascii: "o") || bytes[position + 5] == UInt8(ascii: "p") { return true }
            case UInt8(ascii: "k"):
                if holds("kaWQ6", from: position, to: position + 5) { return true }
            default: break
            }
        }
        return false
    }

    /// The webhook secret or the identifier at an underscore.
    func underscore(at position: Int, next: Int) -> Match? {
        if let match = webhookSecret(underscore: position, next: next) { return match }
        return next - position > 1 ? encodedID(underscore: position, next: next) : nil
    }

    /// The secret of a webhook: `whsec_` and base64.
    func webhookSecret(underscore position: Int, next: Int) -> Match? {
        guard position >= 5, bytes[position - 1] == UInt8(ascii: "c"), holds("whsec", from: position - 5, to: position)
        else { return nil }
        var end = next
        while end < bytes.count, case let unit = unit(at: end), Self.isBase64(unit.value) { end += unit.length }
        return end > next ? Match(start: position - 5, end: end, kind: .token) : nil
    }

    private static func isBase64(_ value: UInt8) -> Bool {
        isBase64URL(value) || value == UInt8(ascii: "+") || value == UInt8(ascii: "/") || value == UInt8(ascii: "=")
    }

    /// The identifier `1234567890_abCDef_01234567` with an encoded underscore, `%5F` or `\u005f`, at a position.
    private func encodedID(underscore position: Int, next: Int) -> Match? {
        var start = position - 10
        var end = next
        if isDigits(10, at: start) {
            guard isAlphanumeric(6, at: next), next + 6 < bytes.count, case let unit = unit(at: next + 6),
                unit.value == 0x5F
            else { return nil }
            end = next + 6 + unit.length
        } else {
            start -= 7
            guard isAlphanumeric(6, at: position - 6), position >= 17, bytes[position - 7] == 0x5F,
                isDigits(10, at: start)
            else { return nil }
        }
        guard isSmallHex(8, at: end), !isAlphanumeric(1, at: end + 8) else { return nil }
        if start > 0, case let before = unit(before: start).value, before.isDigit || before.isLetter { return nil }
        return Match(start: start, end: end + 8, kind: .id)
    }

    private func isDigits(_ count: Int, at start: Int) -> Bool { areAll(count, at: start) { $0.isDigit } }

    private func isAlphanumeric(_ count: Int, at start: Int) -> Bool {
        areAll(count, at: start) { $0.isDigit || $0.isLetter }
    }

    private func isSmallHex(_ count: Int, at start: Int) -> Bool {
        areAll(count, at: start) { $0.isDigit || (0x61...0x66).contains($0) }
    }

    /// Whether that many bytes exist at a position and satisfy a condition.
    private func areAll(_ count: Int, at start: Int, _ condition: (UInt8) -> Bool) -> Bool {
        start >= 0 && start + count <= bytes.count && bytes[start..<start + count].allSatisfy(condition)
    }
}
