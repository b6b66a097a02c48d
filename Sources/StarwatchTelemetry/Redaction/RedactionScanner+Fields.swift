/// Matches found by the name of a field, header or parameter.
extension RedactionScanner {
    /// Hashes of the names in lower case without `_` and `-`. A string per field of each line would be too expensive.
    private static let didFields = hashes(of: [
        "activedid", "accountdid", "issuerdid", "agentdid", "subjectdid", "userdid", "did",
    ])
    private static let tokenFields = hashes(of: [
        "token", "secret", "accesstoken", "refreshtoken", "idtoken", "apikey", "clientsecret", "password", "passwd",
        "pwd", "jwt", "bearer", "authorization", "proxyauthorization", "cookie", "setcookie", "xapikey", "privatekey",
    ])
    private static let parameters = hashes(of: [
        "token", "secret", "key", "accesstoken", "refreshtoken", "idtoken", "apikey", "clientsecret", "password",
        "passwd", "pwd", "jwt", "bearer", "auth", "authorization",
    ])
    private static let headers = hashes(of: ["authorization", "proxyauthorization", "cookie", "setcookie", "xapikey"])
    private static let cookies = hashes(of: ["cookie", "setcookie"])
    private static let longestName = 24

    /// Whether a field with that name contains a DID.
    static func holdsDID(_ name: String) -> Bool { didFields.contains(plain(name)) }

    /// Whether a field with that name contains a token.
    static func holdsToken(_ name: String) -> Bool { tokenFields.contains(plain(name)) }

    private static func plain(_ name: String) -> UInt64 { name.utf8.reduce(into: hashSeed) { mix($1, into: &$0) } }

    private static func hashes(of names: [String]) -> [UInt64] { names.map(plain) }

    private static let hashSeed: UInt64 = 0xCBF2_9CE4_8422_2325

    /// One step of FNV-1a, ignoring case, `_` and `-`.
    @inline(__always)
    private static func mix(_ byte: UInt8, into hash: inout UInt64) {
        if byte == 0x5F || byte == 0x2D { return }
        hash = (hash ^ UInt64(byte.isUppercaseLetter ? byte | 0x20 : byte)) &* 0x100_0000_01B3
    }

    /// Whether ``colon(at:next:)`` could find a match. Without a call for each colon, JSON lines take 6 % less time
    /// (`RedactorBenchmark`, 2 cores AMD EPYC).
    @inline(__always)
    func mayMatch(colon: Int) -> Bool {
        guard colon > 2, colon &+ 1 < bytes.count else { return true }
        let next = bytes[colon &+ 1]
        if next == UInt8(ascii: "/") || next == UInt8(ascii: "%") || next == UInt8(ascii: "\\") { return true }
        let before = bytes[colon &- 1]
        // The name of a JSON field ends before its quote.
        if before == UInt8(ascii: "\"") { return bytes[colon &- 2] == 0x5C || isEnding(before: colon &- 1) }
        return before | 0x20 == UInt8(ascii: "d") || before == UInt8(ascii: "4") || before == UInt8(ascii: " ")
            || isEnding(before: colon)
    }

    /// The string value of a JSON field or header with a sensitive name.
    func field(colon: Int, next: Int) -> Match? {
        guard next - colon == 1 else { return nil }
        var end = colon
        while end > 0, bytes[end - 1] == 0x20, colon - end < 4 { end -= 1 }
        guard end > 0 else { return nil }
        guard bytes[end - 1] == 0x22 else {
            guard let name = name(endingAt: end), Self.headers.contains(name) else { return nil }
            return header(named: name, after: next)
        }
        let quote = end - 1
        end = quote
        while end > 0, bytes[end - 1] == 0x5C { end -= 1 }
        guard let name = name(endingAt: end) else { return nil }
        let depth = quote - end
        if Self.didFields.contains(name) { return string(after: next, depth: depth, kind: .did) }
        return Self.tokenFields.contains(name) ? string(after: next, depth: depth, kind: .token) : nil
    }

    /// The value of `name=value` in a query, a form or a line of text.
    func parameter(equals: Int, next: Int) -> Match? {
        // Most names end in two letters that no known name ends in; hashing them would waste time.
        guard isEnding(before: equals), let name = name(endingAt: equals), Self.parameters.contains(name) else {
            return nil
        }
        if let quoted = string(after: next, depth: nil, kind: .token) { return quoted }
        var end = next
        while end < bytes.count {
            let unit = unit(at: end)
            // An ampersand with more levels of encoding than the equals sign is part of the value.
            if unit.length <= next - equals || bytes[end] == 0x5C, Self.endsParameter(unit.value) { break }
            end += unit.length
        }
        return match(from: next, to: end, kind: .token)
    }

    private static func endsParameter(_ value: UInt8) -> Bool {
        switch value {
        case 0...0x20, 0x7F, UInt8(ascii: "&"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"),
            UInt8(ascii: ">"), UInt8(ascii: "\\"):
            return true
        default: return false
        }
    }

    /// A header's value: the credentials after a scheme, or the whole line for cookies.
    private func header(named name: UInt64, after start: Int) -> Match? {
        var start = start
        while start < bytes.count, bytes[start] == 0x20 { start += 1 }
        func run(from position: Int, through spaces: Bool) -> Int {
            var end = position
            while end < bytes.count, !Self.endsParameter(bytes[end]) || spaces && bytes[end] == 0x20 { end += 1 }
            return end
        }
        guard !Self.cookies.contains(name) else {
            return match(from: start, to: run(from: start, through: true), kind: .token)
        }
        let end = run(from: start, through: false)
        let isScheme = end - start <= 10 && bytes[start..<end].allSatisfy(\.isLetter)
        guard isScheme, end + 1 < bytes.count, bytes[end] == 0x20 else {
            return match(from: start, to: end, kind: .token)
        }
        return match(from: end + 1, to: run(from: end + 1, through: false), kind: .token)
    }

    /// The content of a string that begins after a position.
    ///
    /// - Parameter depth: The number of backslashes before its quotes; `nil` accepts any. A quote with fewer
    ///   backslashes ends the enclosing string.
    private func string(after position: Int, depth expected: Int?, kind: RedactionKind) -> Match? {
        var start = position
        while start < bytes.count, bytes[start] == 0x20 { start += 1 }
        let quoted = start
        while start < bytes.count, bytes[start] == 0x5C { start += 1 }
        let depth = start - quoted
        guard start < bytes.count, bytes[start] == 0x22, depth == expected ?? depth, depth == 0 || depth % 2 == 1
        else { return nil }
        start += 1
        if expected == nil, start < bytes.count, ",:]}".utf8.contains(bytes[start]) { return nil }
        var end = start
        var backslashes = 0
        while end < bytes.count, bytes[end] != 0x0A {
            if bytes[end] == 0x22 {
                // After an even number of backslashes the quote is not escaped and ends the outermost string.
                if backslashes.isMultiple(of: 2) { break }
                if backslashes <= depth {
                    end -= backslashes
                    break
                }
                backslashes = 0
            } else {
                backslashes = bytes[end] == 0x5C ? backslashes + 1 : 0
            }
            end += 1
        }
        let prefix = start + 9
        if kind == .did, prefix < end, holds("did:hash:", from: start, to: prefix), isPseudonym(from: prefix, to: end) {
            return Match(start: start, end: end, kind: nil)
        }
        return match(from: start, to: end, kind: kind)
    }

    /// A match; `nil` if it is empty, and without a kind if it is already redacted.
    private func match(from start: Int, to end: Int, kind: RedactionKind) -> Match? {
        guard end > start else { return nil }
        if holds(kind.replacement, from: start, to: end) { return Match(start: start, end: end, kind: nil) }
        return Match(start: start, end: end, kind: kind)
    }

    /// The hash of the name that ends at a position; `nil` if there is none, or it is too long to be known.
    private func name(endingAt end: Int) -> UInt64? {
        guard isEnding(before: end) else { return nil }
        var start = end
        while start > 0, Self.isBase64URL(bytes[start - 1]) {
            start -= 1
            if end - start > Self.longestName { return nil }
        }
        start += escapeLength(at: start, before: end)
        guard start < end else { return nil }
        var hash = Self.hashSeed
        for position in start..<end { Self.mix(bytes[position], into: &hash) }
        return hash
    }

    /// Whether the letters before `end` end a known name. `_` and `-`, which names ignore, are accepted.
    @inline(__always)
    private func isEnding(before end: Int) -> Bool {
        guard end > 1 else { return false }
        let (first, last) = (bytes[end &- 2] | 0x20, bytes[end &- 1] | 0x20)
        switch UInt16(first) << 8 | UInt16(last) {
        // "id": most fields of a line with an id end so, but known names in "did".
        case 0x6964: return isDID(before: end &- 2)
        // "en", "et", "ey", "rd", "wd", "wt", "er", "on", "ie", "th"
        case 0x656E, 0x6574, 0x6579, 0x7264, 0x7764, 0x7774, 0x6572, 0x6F6E, 0x6965, 0x7468: return true
        default: return first == 0x5F | 0x20 || first == 0x2D
        }
    }

    /// Whether the letter before `end` is the first of `did`.
    private func isDID(before end: Int) -> Bool {
        var end = end
        while end > 0, bytes[end - 1] == 0x5F || bytes[end - 1] == 0x2D { end -= 1 }
        return end > 0 && bytes[end - 1] | 0x20 == UInt8(ascii: "d")
    }
}
