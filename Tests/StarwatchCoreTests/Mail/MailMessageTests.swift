import Foundation
import Testing

@testable import StarwatchCore

/// The bytes of a mail. `MailTests` reads them back with Python's `email`.
@Suite struct MailMessageTests {
    private func mail(
        _ subject: String = "Project Update",
        text: String = "Creek has been updated",
        from: String = "agent@example.org",
        to: [String] = ["me@example.org"]
    ) throws -> MailMessage {
        var mail = MailMessage(
            from: try MailAddress(parsing: from),
            to: try to.map { text throws(MailAddressError) in try MailAddress(parsing: text) },
            date: Timestamp(seconds: 1_767_225_600)
        )
        (mail.subject, mail.text, mail.html) = (subject, text, "<p>\(text)</p>")
        (mail.id, mail.language) = ("ntf_1", "pl")
        mail.references = ["starwatch.offers_to_me", "ntf_0"]
        return mail
    }

    private func lines(_ mail: MailMessage) -> [String] {
        String(decoding: mail.bytes, as: UTF8.self).components(separatedBy: "\r\n")
    }

    /// The lines of the header with its folds undone.
    private func header(_ mail: MailMessage) -> [String: String] {
        let head = String(decoding: mail.bytes, as: UTF8.self).components(separatedBy: "\r\n\r\n")[0]
        let fields = head.replacing("\r\n ", with: " ").components(separatedBy: "\r\n")
        return Dictionary(
            fields.map { field in
                let sides = field.split(separator: ":", maxSplits: 1).map(String.init)
                return (sides[0], sides.count == 2 ? sides[1].trimmingCharacters(in: .whitespaces) : "")
            },
            uniquingKeysWith: { $0 + " AND " + $1 }
        )
    }

    /// The text of encoded words.
    private func decoded(_ value: String) -> String {
        // Each is decoded by itself, as mail programs do.
        value.matches(of: /=\?utf-8\?B\?([A-Za-z0-9+\/=]*)\?=/)
            .map { String(decoding: Data(base64Encoded: String($0.1)) ?? Data(), as: UTF8.self) }.joined()
    }

    @Test func theHeaderIsThatOfAnAutomaticMailInAThread() throws {
        #expect(
            header(try mail()) == [
                "From": "agent@example.org", "To": "me@example.org", "Subject": "Project Update",
                "Date": "Thu, 01 Jan 2026 00:00:00 +0000", "Message-ID": "<ntf_1@example.org>",
                "In-Reply-To": "<ntf_0@example.org>",
                "References": "<starwatch.offers_to_me@example.org> <ntf_0@example.org>", "Content-Language": "pl",
                "Auto-Submitted": "auto-generated", "MIME-Version": "1.0",
                "Content-Type": "multipart/alternative; boundary=\"=_starwatch\"",
            ]
        )
    }

    @Test func equalMailsHaveEqualBytes() throws {
        #expect(try mail().bytes == mail().bytes)
    }

    @Test(arguments: [
        "Projekt 🌻", "庭の更新", String(repeating: "Zażółć gęślą jaźń ", count: 30), "=?utf-8?B?QQ==?=",
        String(repeating: "x", count: 3000), " led by a space", "two  spaces", "👩‍👩‍👧‍👦" + String(repeating: "é", count: 200),
    ])
    func aSubjectThatIsNotPlainIsMadeOfEncodedWords(subject: String) throws {
        let mail = try mail(subject)
        #expect(decoded(try #require(header(mail)["Subject"])) == subject)
        let head = lines(mail).prefix { !$0.isEmpty }
        #expect(head.allSatisfy { $0.utf8.count <= 76 && $0.utf8.allSatisfy { (32...126).contains($0) } })
    }

    @Test func aLongPlainSubjectIsFoldedAtItsSpaces() throws {
        let subject = (1...60).map { "word\($0)" }.joined(separator: " ")
        let mail = try mail(subject)
        #expect(header(mail)["Subject"] == subject)
        #expect(lines(mail).prefix { !$0.isEmpty }.allSatisfy { $0.utf8.count <= 76 })
    }

    @Test(arguments: [
        "Update\r\nBcc: all@example.org", "Update\nBcc: all@example.org", "Update\rBcc: all@example.org",
        "Update\0Bcc: all@example.org", "Update\u{85}Bcc: x", "Update\u{2028}\r\n\r\n<script>", "a\r\n.\r\nQUIT",
    ])
    func noTextAddsAFieldOrEndsTheHeader(text: String) throws {
        var mail = try mail(text)
        (mail.id, mail.language, mail.references) = (text, text, [text])
        #expect(header(mail).count == 11)
        #expect(header(mail)["Bcc"] == nil)
        let bytes = mail.bytes
        #expect(!bytes.contains(0))
        // Every line ends with CR LF, and nothing else has either.
        #expect(
            !String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "").utf8.contains { $0 == 10 || $0 == 13 }
        )
        #expect(lines(mail).filter { $0 == "--=_starwatch" }.count == 2)
    }

    @Test(arguments: [
        ("me@example.org", nil, "me@example.org"), (" me@example.org ", nil, "me@example.org"),
        ("Me <me@example.org>", "Me", "me@example.org"),
        ("\"Me, the \\\"one\\\"\" <m.e+x@a-b.example>", "Me, the \"one\"", "m.e+x@a-b.example"),
        ("<root@localhost>", nil, "root@localhost"), ("Zoë 🌻 <z@example.org>", "Zoë 🌻", "z@example.org"),
    ])
    func anAddressHasAMailboxAndPerhapsAName(text: String, name: String?, mailbox: String) throws {
        let address = try MailAddress(parsing: text)
        #expect(address.name == name && address.mailbox == mailbox)
    }

    @Test(arguments: [
        ("", MailAddressError.none), ("me", .none), ("@example.org", .none), ("me@", .none), ("me@@example.org", .none),
        ("a@b, c@d", .several), ("a@b; c@d", .several), ("a b@example.org", .none), ("me@example..org", .none),
        ("me@.org", .none),
        (".me@example.org", .none), ("me@[127.0.0.1]", .none), ("\"me\"@example.org", .none),
        ("me@example.org>", .none),
        ("Me <me@example.org", .none), ("Me <a@b> <", .none),
        (String(repeating: "x", count: 65) + "@example.org", .none),
        ("zoë@example.org", .notASCII), ("me@münchen.example", .notASCII), ("me@example.org\r\nBcc: x@y", .control),
        ("Me\0 <me@example.org>", .control), ("Me\n <me@example.org>", .control),
    ])
    func anyOtherTextIsNoAddress(text: String, error: MailAddressError) {
        #expect(throws: error) { try MailAddress(parsing: text) }
    }

    /// Taken as one, all but the last would get nothing.
    @Test(arguments: [
        "Alice <alice@example.org>, Bob <bob@example.org>", "alice@example.org, Bob <bob@example.org>",
        "<alice@example.org> <bob@example.org>", "Alice <alice@example.org>; bob <bob@example.org>",
        "\"Alice\" <alice@example.org>, \"Bob\" <bob@example.org>", "Alice <\u{301}a@example.org> <bob@example.org>",
        "Smith, John <john@example.org>",
    ])
    func severalAddressesInOneTextAreRefused(text: String) {
        #expect(throws: MailAddressError.several) { try MailAddress(parsing: text) }
        #expect(MailAddress.problem(of: text)?.contains("takes a list") == true)
    }

    @Test(arguments: [
        (#""Smith, John" <j@example.org>"#, "Smith, John"), (#""a \\ b" <j@example.org>"#, #"a \ b"#),
        (#""<b>; \"x\"" <j@example.org>"#, #"<b>; "x""#),
    ])
    func aNameInQuotesCanHaveEverySign(text: String, name: String) throws {
        #expect(try MailAddress(parsing: text).name == name)
    }

    @Test func namesAreQuotedOrEncodedAndLongListsFolded() throws {
        let people = (1...20).map { "Reader \($0) <reader\($0)@example.org>" }
        let mail = try mail(from: "Żółw <agent@example.org>", to: people + ["\"A \\\"B\\\", C\" <abc@example.org>"])
        let header = header(mail)
        #expect(decoded(header["From"] ?? "") == "Żółw" && header["From"]?.hasSuffix(" <agent@example.org>") == true)
        #expect(header["To"]?.hasPrefix(#""Reader 1" <reader1@example.org>, "Reader 2" "#) == true)
        #expect(header["To"]?.hasSuffix(#", "A \"B\", C" <abc@example.org>"#) == true)
        #expect(lines(mail).allSatisfy { $0.utf8.count <= 76 })
    }

    /// Decodes quoted-printable text.
    private func unquoted(_ bytes: [UInt8]) -> String {
        let text = String(decoding: bytes, as: UTF8.self).replacing("=\r\n", with: "")
        var result: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "=") else {
                result.append(byte)
                continue
            }
            result.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
            rest = rest.dropFirst(2)
        }
        return String(decoding: result, as: UTF8.self)
    }

    @Test(arguments: [
        "", "one", "a = b", "ends with a space ", "ends with a tab\t", ".", "..", "From me", "Zażółć 🌻",
        String(repeating: "long ", count: 400), String(repeating: "庭", count: 500), "a\nb\n\nc", "\0\u{1}",
    ])
    func aTextOfAnyLinesReadsBack(text: String) {
        let bytes = MailMessage.quotedPrintable(text)
        #expect(unquoted(bytes) == text.replacing("\n", with: "\r\n") + "\r\n")
        let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
        #expect(lines.allSatisfy { $0.utf8.count <= 76 && !$0.hasSuffix(" ") && !$0.hasSuffix("\t") })
        #expect(bytes.allSatisfy { (32...126).contains($0) || [9, 10, 13].contains($0) })
        #expect(!String(decoding: bytes, as: UTF8.self).contains("=_"))
    }

    @Test func bothKindsOfLineEndsBecomeThoseOfAMail() {
        #expect(MailMessage.quotedPrintable("a\r\nb\rc\nd") == Array("a\r\nb\r\nc\r\nd\r\n".utf8))
    }
}
