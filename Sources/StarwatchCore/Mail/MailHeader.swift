import FoundationEssentials

/// The lines of a mail's header (RFC 5322), with other letters than ASCII as encoded words (RFC 2047).
enum MailHeader {
    /// The longest line with an encoded word. A mail can have 998, but mail programs expect this.
    private static let longestLine = 76
    /// The bytes of an encoded word, so that it fits beside the name of its field.
    private static let wordBytes = 39

    /// A field whose value is text for people.
    static func text(_ name: String, _ value: String) -> String {
        line(name, isPlain(value) ? value.split(separator: " ").map(String.init) : words(value))
    }

    /// A field of mailboxes.
    static func mailboxes(_ name: String, _ addresses: [MailAddress]) -> String {
        let pieces = addresses.enumerated().flatMap { index, address -> [String] in
            let end = index < addresses.count - 1 ? "," : ""
            guard let shown = address.name else { return [address.mailbox + end] }
            return phrase(shown) + ["<\(address.mailbox)>\(end)"]
        }
        return line(name, pieces)
    }

    /// A field of pieces with one space between two, folded where it gets too long.
    static func line(_ name: String, _ pieces: [String]) -> String {
        var text = name + ":"
        var column = text.utf8.count
        for (index, piece) in pieces.enumerated() {
            let size = piece.utf8.count + 1
            let isFolded = index > 0 && column + size > longestLine
            text += (isFolded ? "\r\n " : " ") + piece
            column = (isFolded ? 0 : column) + size
        }
        return text + "\r\n"
    }

    /// A shown name: a quoted text, or encoded words.
    private static func phrase(_ name: String) -> [String] {
        guard isPlain(name), name.utf8.count <= 60 else { return words(name) }
        return ["\"" + name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""]
    }

    /// Whether a text stays as it is if its lines are folded at spaces, and nothing in it reads as an encoded word.
    private static func isPlain(_ text: String) -> Bool {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        return text.utf8.allSatisfy { (32...126).contains($0) } && !text.contains("=?")
            && words.allSatisfy { (1...60).contains($0.utf8.count) }
    }

    /// The encoded words of a text. None ends within a character.
    private static func words(_ text: String) -> [String] {
        var pieces: [[UInt8]] = [[]]
        for scalar in text.withoutControls().unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if pieces[pieces.count - 1].count + bytes.count > wordBytes { pieces.append([]) }
            pieces[pieces.count - 1] += bytes
        }
        return pieces.filter { !$0.isEmpty }.map { "=?utf-8?B?\(Data($0).base64EncodedString())?=" }
    }
}
