import Foundation
import StarwatchCore
import Testing

@testable import Starwatch

/// What a person reads of a service's answer.
@Suite struct SinkWordsTests {
    private static let token = "123456789:AAE-secret_of_the_bot"

    private func line(_ body: String, _ secrets: [String] = []) -> String? {
        var result = SinkResult.ok
        result.said = Array(body.utf8)
        return result.words(hiding: secrets)
    }

    @Test func itIsOneLineOfAtMost200Characters() throws {
        #expect(line("") == nil && line(" \r\n\t") == nil)
        #expect(line("a\r\n\u{1B}[2Jb\u{202E}c\u{7}") == "a [2Jb c")
        let long = try #require(line(String(repeating: "ab ", count: 300)))
        #expect(long.unicodeScalars.count <= 200 && long.hasSuffix("…"))
        #expect(try #require(line("a" + String(repeating: "\u{301}", count: 5000))).unicodeScalars.count <= 200)
    }

    @Test func personalDataAndSecretsWithAFormAreRedacted() throws {
        let said =
            "550 <me@example.org> did:ethr:0x00000000000000000000000000000000000000aa Bearer abcdefghijklmnopqrstuvwxyz012345"
        let words = try #require(line(said))
        #expect(words.hasPrefix("550 ") && !words.contains("@") && !words.contains("0x00") && !words.contains("abcdef"))
        // A secret is found before the text is cut.
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
        #expect(line(String(repeating: "x ", count: 95) + jwt)?.contains("eyJ") == false)
    }

    @Test(arguments: [
        "no such /bot123456789:AAE-secret_of_the_bot/sendMessage", "token 123456789:AAE-secret_of_the_bot",
        "%20123456789%3AAAE-secret_of_the_bot",
        "AAE-secret_of_the_bot", "AAE-secret_of_the_bot\u{301}",
    ])
    func theTokenOfARequestIsHidden(said: String) throws {
        let words = try #require(line(said, SinkSecret.value(Self.token).words))
        #expect(words.contains("[REDACTED:token") && !words.contains("secret"), "\(words)")
    }

    @Test(arguments: [
        "POST /hooks/a%20secret/x?key=of-the-url", "a secret", "a%20secret", "key of-the-url",
        "https://chat.test/hooks/a%20secret",
    ])
    func whatFollowsTheHostOfAURLIsHidden(said: String) throws {
        let secrets = SinkAddress.secrets(ofURL: "https://chat.test/hooks/a%20secret/x?key=of-the-url")
        let words = try #require(line(said, secrets))
        #expect(!words.contains("secret") && !words.contains("of-the-url"), "\(words)")
    }

    @Test func theTextsOfABodyFileAreHidden() throws {
        let template = #"{"key": "of-the-body", "to": ["Key in-a-list {{title}} and-after"], "text": "{{body}}"}"#
        let sink = RequestSink.webhook(
            name: "hook",
            url: "https://chat.test/hook",
            timeout: .seconds(3),
            http: RecordedService(),
            time: ManualClock(),
            template: try BodyTemplate(json: Array(template.utf8))
        )
        let said = #"no "of-the-body", no "Key in-a-list Creek and-after" of text"#
        let words = try #require(line(said, sink.secrets))
        for secret in ["of-the-body", "in-a-list", "and-after"] { #expect(!words.contains(secret), "\(words)") }
        #expect(words.hasSuffix("of text"))
    }

    @Test func anAnswerChangesNoResult() async throws {
        let body = #"{"ok":false,"description":"Bad Request: chat not found"}"#
        let sink = RequestSink.chat(
            name: "room",
            service: .telegram,
            receiver: ("-100123456789", .value(Self.token)),
            address: .url("https://api.telegram.test"),
            timeout: .seconds(3),
            http: RecordedService(400, body: body),
            time: ManualClock()
        )
        let result = await sink.deliver(.sample())
        #expect(result.words(hiding: sink.secrets) == body)
        let failure = try #require(result.failure)
        #expect(result == .unavailable(failure) && !failure.sentence.contains("chat not found"))
        #expect(sink.secrets.contains("-100123456789") && sink.secrets.contains(Self.token))
    }

    @Test func theWordsOfAServicesOwnPathAreShown() throws {
        let sink = RequestSink.chat(
            name: "room",
            service: .slack,
            receiver: ("", nil),
            address: .url("https://hooks.slack.test/services/T0000001/B0000001/abcdefgh"),
            timeout: .seconds(3),
            http: RecordedService(),
            time: ManualClock()
        )
        #expect(line("these services: T0000001 abcdefgh", sink.secrets)?.hasPrefix("these services: [") == true)
        #expect(line("T0000001 abcdefgh", sink.secrets) == "[REDACTED:token] [REDACTED:token]")
    }
}
