/// A mail with its text as plain text and as HTML (RFC 5322, RFC 2046).
///
/// Equal values give equal bytes, so that a retry sends the same mail.
package struct MailMessage: Sendable, Hashable {
    package var from: MailAddress
    package var to: [MailAddress]
    package var date: Timestamp
    package var subject = ""
    package var text = ""
    package var html = ""
    /// The language of the texts, as in BCP 47.
    package var language = "en"
    /// A word that no other mail of this sender has. Mail programs show a repetition once.
    package var id = ""
    /// The ids of earlier mails, the oldest first, by which mail programs make a thread. They need not exist.
    package var references: [String] = []

    package init(from: MailAddress, to: [MailAddress], date: Timestamp) {
        (self.from, self.to, self.date) = (from, to, date)
    }

    /// In quoted-printable text `=` is never followed by `_`, so that no part contains it.
    private static let boundary = "=_starwatch"

    package var bytes: [UInt8] {
        var head = MailHeader.mailboxes("From", [from]) + MailHeader.mailboxes("To", to)
        head += MailHeader.text("Subject", subject)
        // A mail's date ends with an offset where that of HTTP has a name.
        head += MailHeader.line("Date", [HTTPDate.format(date).replacing("GMT", with: "+0000")])
        head += MailHeader.line("Message-ID", [messageID(id)])
        if let last = references.last {
            head += MailHeader.line("In-Reply-To", [messageID(last)])
            head += MailHeader.line("References", references.map(messageID))
        }
        head += MailHeader.line("Content-Language", [word(language)])
        // No program answers it with a notice of absence (RFC 3834).
        head += MailHeader.line("Auto-Submitted", ["auto-generated"])
        head += MailHeader.line("MIME-Version", ["1.0"])
        head += MailHeader.line("Content-Type", ["multipart/alternative;", "boundary=\"\(Self.boundary)\""])
        return Array(head.utf8) + Self.part("plain", text) + Self.part("html", html)
            + Array("\r\n--\(Self.boundary)--\r\n".utf8)
    }

    private static func part(_ kind: String, _ text: String) -> [UInt8] {
        let head = """
            \r\n--\(boundary)\r
            Content-Type: text/\(kind); charset=utf-8\r
            Content-Transfer-Encoding: quoted-printable\r
            \r\n
            """
        return Array(head.utf8) + quotedPrintable(text)
    }

    private func messageID(_ id: String) -> String { "<\(word(id))@\(from.domain)>" }

    /// The text with `-` in place of what an id cannot have.
    private func word(_ text: String) -> String {
        let bytes = text.utf8.map { $0.isAlphanumeric || "-._".utf8.contains($0) ? $0 : UInt8(ascii: "-") }
        return String(decoding: bytes, as: UTF8.self)
    }
}
