/// Credentials without a scheme, e-mail addresses, phone numbers, and PEM blocks.
extension RedactionScanner {
    /// The user information before an at sign, `user:password@host`, or the e-mail address around it.
    @inline(never)
    func address(sign: Int, next: Int) -> Match? {
        // Text that is replaced up to the sign is the user information of a URL.
        guard sign > flushed, next < bytes.count else { return nil }
        return credentials(sign: sign, next: next) ?? emailAddress(sign: sign, next: next)
    }

    /// The `user:password` before an at sign. The password ends at the last at sign before a delimiter.
    private func credentials(sign: Int, next: Int) -> Match? {
        let first = unit(at: next).value
        guard first.isLetter || first.isDigit || first == UInt8(ascii: "[") || first == 0xFF,
            let user = userStart(before: sign)
        else { return nil }
        var end = sign
        var position = next
        while position < bytes.count, case let unit = unit(at: position), !Self.endsCredentials(unit.value) {
            if unit.value == UInt8(ascii: "@") { end = position }
            position += unit.length
        }
        return Match(start: user, end: end, kind: .token)
    }

    /// The start of the user's name in `user:password`, which ends at a position. `mailto` is no user.
    private func userStart(before sign: Int) -> Int? {
        var position = sign
        while position > 0, case let unit = unit(before: position) {
            if Self.endsCredentials(unit.value) || unit.value == UInt8(ascii: "@") { break }
            position = unit.start
        }
        var user = position
        while position < sign {
            let unit = unit(at: position)
            let next = position + unit.length
            if unit.value == UInt8(ascii: ":"), position > user, next < sign {
                let isScheme =
                    position - user == 6 && zip(bytes[user..<position], "mailto".utf8).allSatisfy { $0 | 0x20 == $1 }
                return isScheme ? nil : user
            }
            if Self.precedesUser(unit.value) { user = next }
            position = next
        }
        return nil
    }

    private static func endsCredentials(_ value: UInt8) -> Bool {
        switch value {
        case 0...0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "]"),
            UInt8(ascii: "{"), UInt8(ascii: "}"):
            return true
        default: return false
        }
    }

    private static func precedesUser(_ value: UInt8) -> Bool {
        switch value {
        case UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: "&"), UInt8(ascii: "?"), UInt8(ascii: "#"),
            UInt8(ascii: ";"), UInt8(ascii: "("), UInt8(ascii: "|"):
            return true
        default: return false
        }
    }

    /// The e-mail address with its at sign at a position. Its domain has a dot, and after it a label of two or more
    /// characters that begins with a letter.
    private func emailAddress(sign: Int, next: Int) -> Match? {
        var start = sign
        while start > 0, case let unit = unit(before: start), Self.isPartOfLocalPart(unit.value) { start = unit.start }
        guard start < sign else { return nil }
        var position = next
        var end = next
        var label = next
        var isDomain = false
        while position < bytes.count {
            let unit = unit(at: position)
            if unit.value == UInt8(ascii: ".") {
                label = position + unit.length
            } else if unit.value.isLetter || unit.value.isDigit || unit.value == 0xFF {
                isDomain = isDomain || label > next && position > label && isLetter(at: label)
                end = position + unit.length
            } else if unit.value != UInt8(ascii: "-") {
                break
            }
            position += unit.length
        }
        return isDomain ? Match(start: start, end: end, kind: .id) : nil
    }

    private func isLetter(at position: Int) -> Bool {
        let value = unit(at: position).value
        return value.isLetter || value == 0xFF
    }

    private static func isPartOfLocalPart(_ value: UInt8) -> Bool {
        if isBase64URL(value) || value == 0xFF { return true }
        return value == UInt8(ascii: ".") || value == UInt8(ascii: "+") || value == UInt8(ascii: "%")
    }

    /// The international phone number that begins with a plus sign: 8 to 15 digits, between which a parenthesis, one of
    /// space, full stop and hyphen, and another parenthesis can be.
    @inline(never)
    func phoneNumber(plus: Int, next: Int) -> Match? {
        if plus > 0, case let before = unit(before: plus).value,
            before.isLetter || before.isDigit || before == UInt8(ascii: "_") || before == UInt8(ascii: "+")
        {
            return nil
        }
        var digits = 0
        var position = next
        var end: Int?
        while digits < 15 {
            if digits > 0 {
                skip(")", &position)
                skip(" .-", &position)
                skip("(", &position)
            }
            guard position < bytes.count, case let unit = unit(at: position), unit.value.isDigit,
                digits > 0 || unit.value != UInt8(ascii: "0")
            else { break }
            digits += 1
            position += unit.length
            let after = position < bytes.count ? self.unit(at: position).value : 0
            if digits >= 8, !after.isLetter, !after.isDigit, after != UInt8(ascii: "_") { end = position }
        }
        return end.map { Match(start: plus, end: $0, kind: .id) }
    }

    /// Moves a position over one of some characters.
    private func skip(_ characters: StaticString, _ position: inout Int) {
        guard position < bytes.count, case let unit = unit(at: position) else { return }
        let isOne = characters.withUTF8Buffer { $0.contains(unit.value) }
        if isOne { position += unit.length }
    }

    /// The PEM block whose first hyphen is at a position, to the end of its last line; without one, to the end of the
    /// string.
    @inline(never)
    func pemBlock(dash: Int) -> Match? {
        guard dash + 10 <= bytes.count, bytes[dash + 1] == 0x2D, dash == 0 || bytes[dash - 1] != 0x2D else {
            return nil
        }
        var position = dash
        while position < bytes.count, bytes[position] == 0x2D { position += 1 }
        guard position - dash >= 5, position + 5 <= bytes.count, holds("BEGIN", from: position, to: position + 5)
        else { return nil }
        while position < bytes.count, bytes[position] != 0x22 {
            if bytes[position] == 0x2D, position + 8 <= bytes.count, holds("-----END", from: position, to: position + 8)
            {
                return Match(start: dash, end: lineEnd(of: position + 8), kind: .token)
            }
            position += 1
        }
        let end = position < bytes.count ? UInt8(ascii: "\\") : 0x0A
        while bytes[position - 1] == end { position -= 1 }
        return Match(start: dash, end: position, kind: .token)
    }

    /// The end of the PEM block that begins in a match, or of the match.
    func end(of match: Match) -> Int {
        for position in match.start..<match.end where bytes[position] == 0x2D {
            if let block = pemBlock(dash: position) { return max(block.end, match.end) }
        }
        return match.end
    }

    /// The end of the line `-----END PRIVATE KEY-----`, from the position after `END`.
    private func lineEnd(of position: Int) -> Int {
        var end = position
        while end < bytes.count, ![0x2D, 0x22, 0x5C, 0x0A].contains(bytes[end]) { end += 1 }
        while end < bytes.count, bytes[end] == 0x2D { end += 1 }
        return end
    }
}
