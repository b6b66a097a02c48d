/// One pass over one reading of a line. It skips words; matches begin only at the characters between them.
struct RedactionScanner {
    /// A range to replace. A match without a kind is skipped unchanged.
    typealias Match = (range: Range<Int>, kind: RedactionKind?)

    /// The length of a ULID. Shorter words contain no secret.
    private static let shortestSecret = 26

    let text: UnsafeBufferPointer<UInt8>
    /// The ranges of the characters in the line; empty if each is one byte.
    let origins: [Range<Int>]
    /// The end of the last replacement.
    private(set) var flushed = 0
    private(set) var replacements: [Replacement] = []

    /// Returns the ranges to replace, in order.
    mutating func run() -> [Replacement] {
        var position = 0
        var wordStart = 0
        while true {
            position = text.end(of: .alphanumeric, from: position)
            let isUnderscore = position < text.count && text[position] == 0x5F
            if !isUnderscore, position - wordStart >= Self.shortestSecret { checkWord(from: wordStart, to: position) }
            guard position < text.count else { return replacements }
            let match = match(at: position)
            position = match.map { take($0, at: position) } ?? position + 1
            // An underscore is part of a word.
            if !isUnderscore || match != nil { wordStart = position }
        }
    }

    /// Replaces or skips a match, and returns the position after it.
    private mutating func take(_ match: Match, at position: Int) -> Int {
        guard let kind = match.kind else { return max(match.range.upperBound, position) }
        let end = end(of: match)
        let start = max(match.range.lowerBound, flushed)
        // The text before the match becomes a word of its own.
        checkWord(from: max(text.start(of: .word, before: start), flushed), to: start)
        append((start..<end, kind))
        return max(end, position)
    }

    /// Replaces the identifiers and keys in a word.
    private mutating func checkWord(from start: Int, to end: Int) {
        var part = start
        while end - part >= Self.shortestSecret {
            if let secret = secret(from: part, wordEnd: end) {
                append(secret)
                part = flushed
            }
            while part < end, text[part] != 0x5F { part += 1 }
            part += 1
        }
    }

    private mutating func append(_ replacement: Replacement) {
        replacements.append(replacement)
        flushed = replacement.range.upperBound
    }

    /// The match indicated by a sign.
    private func match(at position: Int) -> Match? {
        switch text[position] {
        case UInt8(ascii: ":"): did(colon: position) ?? userInformation(colon: position) ?? field(colon: position)
        case UInt8(ascii: "="): parameter(equals: position)
        case UInt8(ascii: "."): jsonWebToken(dot: position)
        case UInt8(ascii: " "), 0x09: bearerToken(space: position)
        case UInt8(ascii: "_"): webhookSecret(underscore: position)
        // Text that is replaced up to the sign is the user information of a URL.
        case UInt8(ascii: "@"): position > flushed ? credentials(sign: position) ?? emailAddress(sign: position) : nil
        case UInt8(ascii: "+"): phoneNumber(plus: position)
        case UInt8(ascii: "-"): pemBlock(dash: position)
        default: nil
        }
    }
}

/// The reading of a line's bytes.
extension UnsafeBufferPointer<UInt8> {
    /// The end of the characters of a set that begin at a position.
    func end(of set: ByteSet, from position: Int) -> Int {
        var end = position
        while end < count, set.contains(self[end]) { end += 1 }
        return end
    }

    /// The start of the characters of a set that end at a position.
    func start(of set: ByteSet, before position: Int) -> Int {
        var start = position
        while start > 0, set.contains(self[start - 1]) { start -= 1 }
        return start
    }

    /// Whether a position has a text.
    func holds(_ expected: StaticString, at start: Int, ignoringCase: Bool = false) -> Bool {
        guard start >= 0, start + expected.utf8CodeUnitCount <= count else { return false }
        return expected.withUTF8Buffer { expected in
            expected.indices.allSatisfy { self[start + $0] | (ignoringCase ? 0x20 : 0) == expected[$0] }
        }
    }

    /// Whether a character of a set is at a position.
    func has(_ set: ByteSet, at position: Int) -> Bool { position < count && set.contains(self[position]) }

    /// Whether that many characters of a set are at a position.
    func areAll(_ count: Int, _ set: ByteSet, at start: Int) -> Bool {
        start + count <= self.count && self[start..<start + count].allSatisfy(set.contains)
    }

    /// Whether a percent sign with two hexadecimal digits is at a position.
    func isPercentEncoded(at position: Int) -> Bool { self[position] == 0x25 && areAll(2, .hex, at: position + 1) }

    /// The start of a word without the digits of a percent encoding that ends in it: `%2Fword`, `%252Fword`.
    func start(ofWordFrom start: Int, to end: Int) -> Int {
        guard start > 0, isPercentEncoded(at: start - 1) else { return start }
        var start = start
        while holds("25", at: start), areAll(2, .hex, at: start + 2) { start += 2 }
        return Swift.min(start + 2, end)
    }
}

/// A set of ASCII characters, with or without all others.
struct ByteSet {
    private static let alphanumerics = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

    static let blank = ByteSet(" \t")
    static let space = ByteSet(" ")
    static let hyphen = ByteSet("-")
    static let digit = ByteSet("0123456789")
    static let hex = ByteSet("0123456789abcdefABCDEF")
    static let smallHex = ByteSet("0123456789abcdef")
    static let crockford = ByteSet("0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz")
    static let alphanumeric = ByteSet(alphanumerics)
    static let word = ByteSet(alphanumerics + "_")
    static let base64URL = ByteSet(alphanumerics + "-_")
    static let base64 = ByteSet(alphanumerics + "-_+/=")
    /// The characters of token68 (RFC 7235).
    static let token68 = ByteSet(alphanumerics + "-_.~+/=")
    static let did = ByteSet(alphanumerics + ".-_:%#/", beyondASCII: true)
    static let localPart = ByteSet(alphanumerics + "-_.+%", beyondASCII: true)
    static let label = ByteSet(alphanumerics, beyondASCII: true)
    static let domain = ByteSet(alphanumerics + ".-", beyondASCII: true)
    /// The characters of a parameter's value, a cookie, the authority of a URL, and `user:password@host`.
    static let parameter = ByteSet(allExcept: #"&"'<>\"#)
    static let cookie = ByteSet(allExcept: #"&"'<>\"#, spaces: true)
    static let authority = ByteSet(allExcept: #"/?#"<>\"#)
    static let credentials = ByteSet(allExcept: #""'<>/\,[]{}"#)
    static let user = ByteSet(allExcept: #""'<>/\,[]{}@"#)
    static let beforeUser = ByteSet(":=&?#;(|")
    /// The rest of the line `-----END PRIVATE KEY-----`, after `END`.
    static let pemName = ByteSet(allExcept: #"-"\"#, spaces: true)

    private var bits: UInt128 = 0
    private var beyondASCII = false

    private init(_ characters: String, beyondASCII: Bool = false) {
        for byte in characters.utf8 { bits |= 1 << UInt128(byte) }
        self.beyondASCII = beyondASCII
    }

    /// All characters except some, controls, and spaces.
    private init(allExcept characters: String, spaces: Bool = false) {
        self.init(characters + "\u{7F}", beyondASCII: true)
        bits = ~(bits | (spaces ? 0xFFFF_FFFF : 0x1_FFFF_FFFF))
    }

    func contains(_ byte: UInt8) -> Bool { byte < 0x80 ? bits >> UInt128(byte) & 1 == 1 : beyondASCII }
}
