/// The form of the secret in a file, which decides what around it does not belong to it.
///
/// Editors leave blank lines, spaces and a byte order mark. They are no part of a text, but can be part of bytes.
package enum SecretContent: Sendable, Hashable, CaseIterable {
    /// Any bytes, without one trailing newline.
    case bytes
    /// Bytes, or a text that begins as one: lines with `whsec_`, or PEM.
    case keys
    /// Text of any number of lines, such as a PEM key.
    case text
    /// A line of text, such as a URL or a password.
    case line
    /// A line with a user, a colon and a password.
    case login
    /// A word for a header or a URL.
    case token
    /// Headers, which ``HeadersFile`` reads.
    case headers

    /// A content of another form. The text says what is wrong and what to do, without the content.
    package struct Mistake: Error, Sendable, Hashable { package var advice: String }

    /// Returns the secret in the content of a file.
    package func secret(in content: [UInt8]) throws(Mistake) -> [UInt8] {
        let text = Self.trimmed(content)
        guard !text.isEmpty else { throw Mistake(advice: "it is empty; check the path") }
        switch self {
        case .text: return text
        case .headers:
            _ = try HeadersFile.parse(content)
            return text
        case .line, .login:
            guard !text.contains(where: { $0 == 10 || $0 == 13 }) else {
                throw Mistake(advice: "it must have one line; remove the others")
            }
            guard text.allSatisfy({ $0 >= 32 && $0 != 127 }), String(validating: text, as: UTF8.self) != nil else {
                throw Mistake(advice: "it must be text in UTF-8 without control characters; save it again")
            }
            guard self == .line || text.dropFirst().contains(UInt8(ascii: ":")) else {
                throw Mistake(advice: "it must have the form user:password; correct it")
            }
            return text
        case .token:
            guard text.allSatisfy({ (33...126).contains($0) }) else {
                throw Mistake(advice: "it must have one token of printable ASCII; remove spaces and other lines")
            }
            return text
        case .keys where ["whsec_", "-----BEGIN "].contains(where: { text.starts(with: $0.utf8) }): return text
        case .bytes, .keys:
            let bytes = Self.withoutNewline(content)
            // A person typed it. Random bytes have other characters.
            guard bytes.count == text.count || !Self.isPrintable(bytes) else {
                throw Mistake(advice: "it has a byte order mark, spaces or blank lines around the secret; remove them")
            }
            return bytes
        }
    }

    private static func withoutNewline(_ content: [UInt8]) -> [UInt8] {
        var bytes = content
        guard bytes.last == UInt8(ascii: "\n") else { return bytes }
        bytes.removeLast()
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return bytes
    }

    private static func trimmed(_ content: [UInt8]) -> [UInt8] {
        var rest = content[...]
        if rest.starts(with: "\u{FEFF}".utf8) { rest = rest.dropFirst(3) }
        rest = rest.drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return Array(rest)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

    private static func isPrintable(_ bytes: [UInt8]) -> Bool {
        bytes.allSatisfy { $0 != 127 && ($0 >= 32 || isSpace($0)) } && String(validating: bytes, as: UTF8.self) != nil
    }
}
