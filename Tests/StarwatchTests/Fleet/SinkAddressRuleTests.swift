import StarwatchCore
import Testing

@testable import Starwatch

/// The parts of an address that accounts bring, and the mistakes in them.
@Suite struct SinkAddressRuleTests {
    private static func chat(_ service: SinkFormat, _ settings: [String: SinkValue] = [:]) -> SinkOptions {
        SinkOptions(name: "hook", kind: .chat(service, settings))
    }

    private static func webhook(_ url: String = "", secretFile: String? = nil) -> SinkOptions {
        SinkOptions(name: "hook", kind: .webhook(url: url, secretFile: secretFile, timeout: .seconds(1)))
    }

    private static func ntfy(_ url: String = "", topic: String = "", tokenFile: String? = nil) -> SinkOptions {
        SinkOptions(name: "hook", kind: .ntfy(url: url, topic: topic, tokenFile: tokenFile))
    }

    private static func mail(_ to: [String]) -> SinkOptions {
        SinkOptions(
            name: "hook",
            kind: .email(url: "smtps://mail.test", from: "agent@a.test", to: to)
        )
    }

    private static let url = "https://example.org/x"

    @Test(
        arguments: [
            (webhook(), [.url], [.secret]), (webhook(secretFile: "f"), [.url], []), (webhook(url), [], []),
            (ntfy(), [.url, .topic], [.secret]), (ntfy(url), [.topic], [.secret]),
            (ntfy(url, tokenFile: "f"), [.topic], []), (ntfy(url, topic: "t"), [], []),
            (chat(.slack), [.url], []), (chat(.slack, ["url_file": "f"]), [], []),
            (chat(.teams), [.url], []), (chat(.gotify), [.url, .secret], []),
            (chat(.gotify, ["url": .text(url)]), [.secret], []), (chat(.matrix), [.url, .room, .secret], []),
            (chat(.telegram), [.room, .secret], [.topic]), (chat(.telegram, ["token_file": "f"]), [.room], [.topic]),
            (chat(.telegram, ["room": "r"]), [.secret], []),
            (chat(.pushover, ["token_file": "f", "room": "r"]), [], []),
            (SinkOptions(name: "hook", kind: .log), [], []), (mail([]), [.to], []), (mail(["me@a.test"]), [], []),
        ] as [(SinkOptions, [SinkAddress.Part], [SinkAddress.Part])]
    )
    func anAccountBringsWhatTheConfigurationLeavesOut(
        sink: SinkOptions,
        needed: [SinkAddress.Part],
        optional: [SinkAddress.Part]
    ) {
        let parts = sink.partsOfAccounts
        #expect(parts.needed == needed && parts.optional == optional)
        #expect(sink.isOfAccounts == !needed.isEmpty)
    }

    @Test(
        arguments: [
            (webhook(), SinkAddress(url: url), nil), (webhook(), SinkAddress(url: url, secret: "s"), nil),
            (webhook(), SinkAddress(url: "http://127.0.0.1:9/x"), nil),
            (webhook(), SinkAddress(secret: "s"), "The sink hook needs the url of the account; add it."),
            (
                webhook(url), SinkAddress(url: url),
                "The sink hook takes no address of an account; leave it out, or remove its own in the configuration."
            ),
            (
                webhook(secretFile: "f"), SinkAddress(url: url, secret: "s"),
                "The sink hook takes no secret of an account; leave it out."
            ),
            (webhook(), SinkAddress(url: url, room: "r"), "The sink hook takes no room of an account; leave it out."),
            (
                webhook(), SinkAddress(url: url, secret: "whsec_no base64"),
                "The secret for the sink hook must be the secret's text, or lines of whsec_ and then a secret in base64."
            ),
            (
                webhook(), SinkAddress(url: "https://exa mple.org/x"),
                """
                The url for the sink hook must be a URL that starts with https://, without user and password; http:// is \
                allowed to this machine only.
                """
            ), (webhook(), SinkAddress(url: ""), "The url for the sink hook must have 1 to 4,096 bytes."),
            (
                chat(.slack), SinkAddress(url: url),
                "The url for the sink hook must be the address that slack gave, with /services/ in it."
            ),
            (
                chat(.teams), SinkAddress(url: "https://hooks.slack.com/services/T/B/x"),
                "The url for the sink hook must be the address that teams gave, with /workflows/ in it."
            ),
            (
                chat(.apprise), SinkAddress(url: "https://example.org/notify/"),
                "The url for the sink hook must not end after /notify/; add the rest of the address that apprise gave."
            ), (chat(.apprise), SinkAddress(url: "https://example.org/notify/key"), nil),
            (
                chat(.matrix), SinkAddress(url: url, room: "#a:example.org", secret: "s"),
                """
                The room for the sink hook must be the id of the room, which starts with !; an alias such as \
                #room:example.org is none.
                """
            ), (chat(.matrix), SinkAddress(url: url, room: "!a:example.org", secret: "s"), nil),
            (chat(.gotify), SinkAddress(url: url), "The sink hook needs the secret of the account; add it."),
            (
                chat(.telegram), SinkAddress(room: "a b", secret: "s"),
                "The room for the sink hook must be the id that the service shows, without spaces."
            ),
            (chat(.telegram), SinkAddress(room: "1", topic: "7", secret: "s"), nil),
            (
                chat(.telegram), SinkAddress(room: "1", topic: "general", secret: "s"),
                "The topic for the sink hook must be the number of a topic in the group."
            ),
            (
                ntfy(url), SinkAddress(topic: "a/b"),
                "The topic for the sink hook must be letters, digits, - and _, at most 64 long."
            ),
            (
                ntfy(url), SinkAddress(topic: "a", secret: "two words"),
                "The secret for the sink hook must be the token that the service shows, without spaces."
            ), (webhook(), nil, nil), (mail([]), SinkAddress(to: "Me <me@a.test>"), nil),
            (mail([]), SinkAddress(url: url), "The sink hook takes no url of an account; leave it out."),
            (
                mail([]), SinkAddress(to: "me"),
                "The to for the sink hook must be one address, such as me@example.org or Me <me@example.org>."
            ),
            (
                mail([]), SinkAddress(to: "a@b.test\r\nBcc: c@d"),
                "The to for the sink hook must not contain a line break or another control character; remove it."
            ),
        ] as [(SinkOptions, SinkAddress?, String?)]
    )
    func aMistakeIsOneSentence(sink: SinkOptions, address: SinkAddress?, problem: String?) {
        #expect(SinkOptions.problem(of: address, for: "hook", among: [sink]) == problem)
    }

    @Test(
        arguments: [
            "example.org", "http://example.org/x", "ftp://example.org", "https://a:b@example.org", "https://",
            "https:///x",
            "https://example.org:99999/", "",
        ]
    )
    func aURLThatIsNoneOrLeavesThisMachineInClearTextIsNotGood(url: String) {
        #expect(!SinkAddress.isGood(url: url))
    }

    @Test func theNamesOfTheSinksThatTakeAnAddressAreTold() {
        #expect(
            SinkOptions.problem(of: SinkAddress(), for: "hok", among: [Self.webhook(), Self.chat(.slack)])
                == "There is no sink of that name; those that take an address are hook, hook."
        )
        #expect(
            SinkOptions.problem(of: SinkAddress(), for: "hok", among: [Self.webhook(Self.url)])
                == "No sink takes an address of an account; leave out the address of one in the configuration."
        )
    }
}
