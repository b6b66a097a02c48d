/// The address of a mailbox, with the name that mail programs show beside it.
package struct MailAddress: Sendable, Hashable {
    /// The shown name; `nil` if there is none.
    package let name: String?
    /// `local@domain`, in ASCII.
    package let mailbox: String

    package var domain: String { mailbox.split(separator: "@").last.map(String.init) ?? "" }

    /// Reads `local@domain` or `Name <local@domain>`. A name with a comma needs quotes (RFC 5322, section 3.4).
    ///
    /// - Throws: ``MailAddressError`` for any other text, such as two addresses, of which one would get nothing.
    package init(parsing text: String) throws(MailAddressError) {
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw .control
        }
        let text = text.trimmingSpaces
        guard text.hasSuffix(">"), let start = text.lastIndex(of: "<") else {
            guard !Self.has(",;", text) else { throw .several }
            try Self.check(text)
            (name, mailbox) = (nil, text)
            return
        }
        let shown = String(text[..<start]).trimmingSpaces
        let quoted = Self.unquoted(shown)
        guard quoted != nil || !Self.has("<>,;", shown) else { throw .several }
        let plain = quoted ?? shown
        let address = String(text[text.index(after: start)...].dropLast())
        try Self.check(address)
        (name, mailbox) = (plain.isEmpty ? nil : plain, address)
    }

    /// Whether a text has one of the signs that separate addresses. A combining mark after a sign does not hide it.
    private static func has(_ signs: String, _ text: String) -> Bool {
        text.unicodeScalars.contains { signs.unicodeScalars.contains($0) }
    }

    /// The text within quotes, without its escapes; `nil` if it is not one quoted text from its beginning to its end.
    private static func unquoted(_ text: String) -> String? {
        let scalars = text.unicodeScalars
        guard scalars.count >= 2, scalars.first == "\"", scalars.last == "\"" else { return nil }
        var result = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in scalars.dropFirst().dropLast() {
            if !isEscaped, scalar == "\"" { return nil }
            isEscaped = !isEscaped && scalar == "\\"
            if !isEscaped { result.append(scalar) }
        }
        return isEscaped ? nil : String(result)
    }

    /// Returns what is wrong with a text that must be an address, or `nil`.
    package static func problem(of text: String) -> String? {
        do throws(MailAddressError) {
            _ = try MailAddress(parsing: text)
            return nil
        } catch { return error.description }
    }

    /// Accepts what every mail server takes: an address without quotes and comments (RFC 5321, section 4.1.2).
    private static func check(_ mailbox: String) throws(MailAddressError) {
        guard mailbox.utf8.allSatisfy({ $0 < 128 }) else { throw .notASCII }
        let sides = mailbox.split(separator: "@", omittingEmptySubsequences: false)
        guard sides.count == 2, sides[0].utf8.count <= 64, mailbox.utf8.count <= 254,
            isDotted(sides[0], isLocalByte), isDotted(sides[1], isDomainByte)
        else { throw .none }
    }

    /// Whether a text is words with one dot between two.
    private static func isDotted(_ text: Substring, _ isByte: (UInt8) -> Bool) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { word in
            !word.isEmpty && word.utf8.allSatisfy(isByte)
        }
    }

    private static func isDomainByte(_ byte: UInt8) -> Bool { byte.isAlphanumeric || byte == UInt8(ascii: "-") }

    private static func isLocalByte(_ byte: UInt8) -> Bool {
        isDomainByte(byte) || "!#$%&'*+/=?^_`{|}~".utf8.contains(byte)
    }
}

/// The reason why a text is no address. Its description never repeats the text.
package enum MailAddressError: Error, Sendable, Hashable, CustomStringConvertible {
    case none, several, notASCII, control

    package var description: String {
        switch self {
        case .none: "must be one address, such as me@example.org or Me <me@example.org>."
        case .several:
            "must be one address; the setting to also takes a list, such as [me@example.org, you@example.org], and a name "
                + "with a comma needs quotes."
        case .notASCII:
            "must be an address in ASCII; write its domain as xn--…, or choose one without other letters before the @."
        case .control: "must not contain a line break or another control character; remove it."
        }
    }
}
