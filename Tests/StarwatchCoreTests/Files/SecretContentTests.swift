import Testing

@testable import StarwatchCore

@Suite struct SecretContentTests {
    private func secret(_ text: String, _ content: SecretContent) -> String? {
        (try? content.secret(in: Array(text.utf8))).map { String(decoding: $0, as: UTF8.self) }
    }

    private func advice(_ text: String, _ content: SecretContent) -> String? {
        do throws(SecretContent.Mistake) {
            _ = try content.secret(in: Array(text.utf8))
            return nil
        } catch { return error.advice }
    }

    /// What editors and `echo` leave around a text.
    private static let around = [
        "a:b", "a:b\n", "a:b\r\n", "a:b\n\n", "\n a:b \t\r\n\r\n", "\u{FEFF}a:b\r\n", "\u{FEFF} a:b",
    ]

    @Test(arguments: around, [SecretContent.text, .line, .login, .token, .headers])
    func aTextIsWithoutWhatIsAroundIt(text: String, content: SecretContent) {
        #expect(secret(text, content) == "a:b")
    }

    @Test(arguments: SecretContent.allCases) func nothingIsNoSecret(content: SecretContent) {
        for text in ["", "\n", " \r\n\t", "\u{FEFF}\n"] {
            #expect(advice(text, content) == "it is empty; check the path", "\(text.debugDescription)")
        }
    }

    @Test func aSecretOfOnePieceHasNoOther() {
        #expect(secret("pass word", .line) == "pass word")
        #expect(advice("one\ntwo", .line) == "it must have one line; remove the others")
        let oneToken = "it must have one token of printable ASCII; remove spaces and other lines"
        for text in ["one\ntwo", "# token\nabc", "a b", "a\u{A0}", "tök", "a\0b"] {
            #expect(advice(text, .token) == oneToken, "\(text.debugDescription)")
        }
        #expect(secret("one\n\ntwo", .text) == "one\n\ntwo")
        for text in ["pass\u{8}word", "a\u{7F}:b", "a:\0b"] {
            let advice = "it must be text in UTF-8 without control characters; save it again"
            #expect(self.advice(text, .line) == advice && self.advice(text, .login) == advice)
        }
        for text in ["user", ":password"] {
            #expect(advice(text, .login) == "it must have the form user:password; correct it")
        }
        #expect(secret("user:", .login) == "user:")
    }

    @Test func bytesStay() throws {
        for (text, bytes) in [("a\n", "a"), ("a\r\n", "a"), ("a", "a"), ("a b\nc\n", "a b\nc")] {
            #expect(secret(text, .bytes) == bytes && secret(text, .keys) == bytes)
        }
        // Random bytes can begin and end as a text does.
        for bytes: [UInt8] in [[32, 200, 7, 10, 32], [10, 1, 2, 32], [0xef, 0xbb, 0xbf, 0, 9]] {
            #expect(try SecretContent.bytes.secret(in: bytes) == bytes)
            #expect(try SecretContent.bytes.secret(in: bytes + [10]) == bytes)
        }
    }

    /// A person typed it, and the agent cannot know whether the server has the spaces too.
    @Test(arguments: ["a\n\n", " a", "a ", "a\t\n", "\u{FEFF}a", "\na", "one\ntwo\n\n"])
    func whatIsAroundBytesOfATextIsRefused(text: String) {
        for content in [SecretContent.bytes, .keys] {
            let advice = advice(text, content)
            #expect(advice == "it has a byte order mark, spaces or blank lines around the secret; remove them")
        }
    }

    @Test func keysThatAreTextAreTrimmed() {
        #expect(secret("\u{FEFF}whsec_YQ==\nwhsec_Yg==\n\n", .keys) == "whsec_YQ==\nwhsec_Yg==")
        #expect(secret("\n-----BEGIN EC PRIVATE KEY-----\n\n", .keys) == "-----BEGIN EC PRIVATE KEY-----")
    }
}
