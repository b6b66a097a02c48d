/// Secrets found by the name of a field, header or parameter.
extension RedactionScanner {
    /// The meaning of a name for its value: the kind of its JSON string, whether it can be the value of a parameter, and
    /// whether that of a header; a cookie is a whole line.
    private typealias Meaning = (field: RedactionKind?, isParameter: Bool, header: ByteSet?)

    /// The meaning of each name, by the hash of the name in lower case without `_` and `-`. A string per field of each
    /// line would be too expensive.
    private static let meanings: [UInt64: Meaning] = {
        let table: [(names: String, meaning: Meaning)] = [
            ("activedid accountdid issuerdid agentdid subjectdid userdid did", (.did, false, nil)),
            ("token secret accesstoken refreshtoken idtoken apikey clientsecret", (.token, true, nil)),
            ("password passwd pwd jwt bearer", (.token, true, nil)), ("key auth", (nil, true, nil)),
            ("authorization", (.token, true, .parameter)), ("privatekey", (.token, false, nil)),
            ("proxyauthorization xapikey", (.token, false, .parameter)), ("cookie setcookie", (.token, false, .cookie)),
        ]
        return table.reduce(into: [:]) { meanings, row in
            for name in row.names.split(separator: " ") { meanings[hash(name.utf8)] = row.meaning }
        }
    }()
    private static let longestName = 24

    /// The kind of data that a field with that name contains.
    static func kind(ofField name: String) -> RedactionKind? { meanings[hash(name.utf8)]?.field }

    /// FNV-1a, ignoring case, `_` and `-`.
    private static func hash(_ name: some Sequence<UInt8>) -> UInt64 {
        name.reduce(0xCBF2_9CE4_8422_2325) { hash, byte in
            guard byte != 0x5F, byte != 0x2D else { return hash }
            return (hash ^ UInt64(byte.isUppercaseLetter ? byte | 0x20 : byte)) &* 0x100_0000_01B3
        }
    }

    /// The meaning of the name that ends at a position. It ends in a letter or in two ignored characters.
    private func meaning(ofNameBefore end: Int) -> Meaning? {
        guard end > 1 else { return nil }
        let (last, first) = (text[end - 1], text[end - 2])
        guard last.isLetter || (last == 0x5F || last == 0x2D) && (first == 0x5F || first == 0x2D) else { return nil }
        var start = end
        while start > 0, ByteSet.base64URL.contains(text[start - 1]) {
            start -= 1
            if end - start > Self.longestName { return nil }
        }
        start = text.start(ofWordFrom: start, to: end)
        return Self.meanings[Self.hash(text[start..<end])]
    }

    /// The string value of a JSON field or header with a sensitive name.
    func field(colon: Int) -> Match? {
        var end = colon
        while end > 0, text[end - 1] == 0x20, colon - end < 4 { end -= 1 }
        guard text.holds("\"", at: end - 1) else {
            return meaning(ofNameBefore: end)?.header.flatMap { header(after: colon + 1, of: $0) }
        }
        guard let kind = meaning(ofNameBefore: end - 1)?.field else { return nil }
        return string(after: colon + 1, quoteLength: length(at: end - 1), kind: kind)
    }

    /// The value of `name=value` in a query, a form or a line of text.
    func parameter(equals: Int) -> Match? {
        guard meaning(ofNameBefore: equals)?.isParameter == true else { return nil }
        let next = equals + 1
        return string(after: next, quoteLength: nil, kind: .token)
            ?? match(from: next, to: text.end(of: .parameter, from: next), kind: .token)
    }

    /// A header's value, without the scheme of credentials.
    private func header(after colon: Int, of set: ByteSet) -> Match? {
        let start = text.end(of: .space, from: colon)
        let end = text.end(of: set, from: start)
        guard end - start <= 10, text[start..<end].allSatisfy(\.isLetter), end + 1 < text.count, text[end] == 0x20
        else {
            return match(from: start, to: end, kind: .token)
        }
        return match(from: end + 1, to: text.end(of: set, from: end + 1), kind: .token)
    }

    /// The content of a string that begins after a position.
    ///
    /// - Parameter quoteLength: The number of bytes of its quotes, of which an escaped one has more; `nil` accepts any.
    ///   A quote with fewer bytes ends the enclosing string.
    private func string(after position: Int, quoteLength: Int?, kind: RedactionKind) -> Match? {
        let quote = text.end(of: .space, from: position)
        guard text.holds("\"", at: quote), case let length = length(at: quote), length == quoteLength ?? length else {
            return nil
        }
        let start = quote + 1
        if quoteLength == nil, start < text.count, ",:]}".utf8.contains(text[start]) { return nil }
        var end = start
        while end < text.count, text[end] != 0x0A, text[end] != 0x22 || self.length(at: end) > length { end += 1 }
        if kind == .did, text.holds("did:hash:", at: start), isPseudonym(from: start + 9, to: end) {
            return (start..<end, nil)
        }
        return match(from: start, to: end, kind: kind)
    }

    private func length(at position: Int) -> Int { origins.isEmpty ? 1 : origins[position].count }

    /// A match; `nil` if it is empty, and without a kind if it is already redacted.
    private func match(from start: Int, to end: Int, kind: RedactionKind) -> Match? {
        guard end > start else { return nil }
        return (start..<end, isReplacement(kind, from: start, to: end) ? nil : kind)
    }

    /// Whether a range is already redacted.
    func isReplacement(_ kind: RedactionKind, from start: Int, to end: Int) -> Bool {
        text[start..<end].elementsEqual(kind.replacement.utf8)
    }
}
