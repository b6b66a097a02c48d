/// Secrets found by their form.
extension RedactionScanner {
    /// The DID with its first colon at a position: `did`, a method, an identifier, and an optional fragment or path.
    func did(colon: Int) -> Match? {
        guard text.holds("did", at: colon - 3, ignoringCase: true) else { return nil }
        let method = colon + 1
        let methodEnd = text.end(of: .alphanumeric, from: method)
        guard methodEnd > method, text.holds(":", at: methodEnd) else { return nil }
        let id = methodEnd + 1
        var end = id
        while end < text.count, ByteSet.did.contains(text[end]), !text.isPercentEncoded(at: end) { end += 1 }
        // A full stop or colon at the end belongs to the sentence, not to the DID.
        while end > id + 1, text[end - 1] == 0x2E || text[end - 1] == 0x3A { end -= 1 }
        guard end > id else { return nil }
        let isKept = methodEnd - method == 4 && text.holds("hash", at: method) && isPseudonym(from: id, to: end)
        return (colon - 3..<end, isKept ? nil : .did)
    }

    /// Whether a range has 16 hexadecimal digits in lower case.
    func isPseudonym(from start: Int, to end: Int) -> Bool {
        end - start == 16 && text.areAll(16, .smallHex, at: start)
    }

    /// The text between `://` and `@`.
    func userInformation(colon: Int) -> Match? {
        guard text.holds("://", at: colon) else { return nil }
        let start = colon + 3
        let end = text.end(of: .authority, from: start)
        guard let sign = text[start..<end].lastIndex(of: UInt8(ascii: "@")), sign > start,
            !isReplacement(.token, from: start, to: sign)
        else { return nil }
        return (start..<sign, .token)
    }

    /// The token after `Bearer` and a space. The word `Bearer` is kept.
    func bearerToken(space: Int) -> Match? {
        guard text.holds("bearer", at: space - 6, ignoringCase: true) else { return nil }
        let start = text.end(of: .blank, from: space)
        let end = text.end(of: .token68, from: start)
        return end > start ? (start..<end, .token) : nil
    }

    /// The JWT with its first dot at a position. It begins with `eyJ`, the encoding of `{"`, and can be truncated after
    /// the first dot.
    func jsonWebToken(dot: Int) -> Match? {
        guard text.has(.base64URL, at: dot + 1) else { return nil }
        let run = text.start(of: .base64URL, before: dot)
        guard run <= dot - 10, let start = (run...dot - 10).first(where: { text.holds("eyJ", at: $0) }) else {
            return nil
        }
        var end = dot
        while text.has(.base64URL, at: end + 1), text[end] == UInt8(ascii: ".") {
            end = text.end(of: .base64URL, from: end + 1)
        }
        return (start..<end, .token)
    }

    /// The secret of a webhook: `whsec_` and base64.
    func webhookSecret(underscore: Int) -> Match? {
        guard text.holds("whsec", at: underscore - 5) else { return nil }
        let end = text.end(of: .base64, from: underscore + 1)
        return end > underscore + 1 ? (underscore - 5..<end, .token) : nil
    }

    /// The PEM block whose first hyphen is at a position, to the end of its last line; without one, to the end of the
    /// string.
    func pemBlock(dash: Int) -> Match? {
        guard text.holds("-----", at: dash), dash == 0 || text[dash - 1] != 0x2D else { return nil }
        var position = text.end(of: .hyphen, from: dash)
        guard text.holds("BEGIN", at: position) else { return nil }
        while position < text.count, text[position] != 0x22 {
            if text.holds("-----END", at: position) {
                return (dash..<text.end(of: .hyphen, from: text.end(of: .pemName, from: position + 8)), .token)
            }
            position += 1
        }
        if position == text.count { while text[position - 1] == 0x0A { position -= 1 } }
        return (dash..<position, .token)
    }

    /// The end of the PEM block that begins in a match, or of the match.
    func end(of match: Match) -> Int {
        for position in match.range where text[position] == 0x2D {
            if let block = pemBlock(dash: position) { return max(block.range.upperBound, match.range.upperBound) }
        }
        return match.range.upperBound
    }

    // MARK: - Words

    /// The identifier or key in the part of a word that begins at a position. Parts are between underscores.
    func secret(from start: Int, wordEnd: Int) -> Replacement? {
        let end = min(text.end(of: .alphanumeric, from: start), wordEnd)
        switch end - start {
        case 10 where isCanonicalID(at: start, wordEnd: wordEnd): return (start..<start + 26, .id)
        case 26 where isULID(at: start): return (start..<end, .id)
        case 64 where text.areAll(64, .hex, at: start): return (start..<end, .token)
        case 66 where text.holds("0x", at: start, ignoringCase: true) && text.areAll(64, .hex, at: start + 2):
            return (start..<end, .token)
        case 26... where (start..<end - 5).contains { isBase64DID(at: $0) }:
            return (text.start(ofWordFrom: start, to: end)..<end, .did)
        default: return nil
        }
    }

    /// Whether 26 letters and digits are of Crockford's base 32. With small letters the first digit is at most 7, which
    /// every ULID of a real time is.
    private func isULID(at start: Int) -> Bool {
        guard text.areAll(26, .crockford, at: start) else { return false }
        return (0x30...0x37).contains(text[start]) || !text[start..<start + 26].contains { $0.isLowercaseLetter }
    }

    /// Whether `1234567890_abCDef_01234567` is at a position.
    private func isCanonicalID(at start: Int, wordEnd: Int) -> Bool {
        let end = start + 26
        return end <= wordEnd && (end == wordEnd || text[end] == 0x5F) && text.areAll(10, .digit, at: start)
            && text.holds("_", at: start + 10) && text.areAll(6, .alphanumeric, at: start + 11)
            && text.holds("_", at: start + 17)
            && text.areAll(8, .smallHex, at: start + 18)
    }

    /// Whether the base64 of `did:` and another character is at a position, at any of three alignments.
    private func isBase64DID(at position: Int) -> Bool {
        switch text[position] {
        case UInt8(ascii: "Z"): text.holds("ZGlkO", at: position) && (0x67...0x76).contains(text[position + 5])
        case UInt8(ascii: "G"), UInt8(ascii: "W"), UInt8(ascii: "m"), UInt8(ascii: "2"):
            text.holds("RpZDo", at: position + 1) || text.holds("RpZDp", at: position + 1)
        case UInt8(ascii: "k"): text.holds("kaWQ6", at: position)
        default: false
        }
    }

    // MARK: - People

    /// The `user:password` before an at sign. The password ends at the last at sign before a delimiter.
    func credentials(sign: Int) -> Match? {
        // The host can be an address in brackets.
        guard text.has(.label, at: sign + 1) || text.holds("[", at: sign + 1), let user = user(before: sign) else {
            return nil
        }
        let host = text.end(of: .credentials, from: sign + 1)
        let end = text[sign..<host].lastIndex(of: UInt8(ascii: "@")) ?? sign
        return (user..<end, .token)
    }

    /// The start of the user's name in `user:password`, which ends at a position. `mailto` is no user.
    private func user(before sign: Int) -> Int? {
        let start = text.start(of: .user, before: sign)
        var user = start
        for position in start..<sign where ByteSet.beforeUser.contains(text[position]) {
            if text[position] == UInt8(ascii: ":"), position > user, position + 1 < sign {
                return position - user == 6 && text.holds("mailto", at: user, ignoringCase: true) ? nil : user
            }
            user = position + 1
        }
        return nil
    }

    /// The e-mail address with its at sign at a position. Its domain has a dot, and after it a label of two or more
    /// characters that begins with a letter.
    func emailAddress(sign: Int) -> Match? {
        var start = sign
        while start > 0, ByteSet.localPart.contains(text[start - 1]), !text.isPercentEncoded(at: start - 1) {
            start -= 1
        }
        start = text.start(ofWordFrom: start, to: sign)
        guard start < sign else { return nil }
        var label = sign + 1
        var end = label
        var isDomain = false
        for position in label..<text.end(of: .domain, from: label) {
            if text[position] == UInt8(ascii: ".") {
                label = position + 1
            } else if text[position] != UInt8(ascii: "-") {
                isDomain =
                    isDomain || label > sign + 1 && position > label && !text[label].isDigit && text[label] != 0x2D
                end = position + 1
            }
        }
        return isDomain ? (start..<end, .id) : nil
    }

    /// The international phone number that begins with a plus sign: 8 to 15 digits, between which a parenthesis, one of
    /// space, full stop and hyphen, and another parenthesis can be.
    func phoneNumber(plus: Int) -> Match? {
        if plus > 0, ByteSet.word.contains(text[plus - 1]) || text[plus - 1] == UInt8(ascii: "+") { return nil }
        var position = plus + 1
        var end: Int?
        for digits in 1...15 {
            if digits > 1 {
                for separators in [")", " .-", "("] where position < text.count {
                    position += separators.utf8.contains(text[position]) ? 1 : 0
                }
            }
            guard text.has(.digit, at: position), digits > 1 || text[position] != UInt8(ascii: "0") else { break }
            position += 1
            if digits >= 8, !text.has(.word, at: position) { end = position }
        }
        return end.map { (plus..<$0, .id) }
    }
}
