import StarwatchCore
import Testing

@testable import Starwatch

/// Links of items of lists, which any server writes.
@Suite struct ListLinkTests {
    private static let link = "https://a.test/r?a=1&b=(\"><i>)](https://b.test)"
    /// The same without a sign that markup could read.
    private static let address = "https://a.test/r?a=1&b=%28%22%3E%3Ci%3E%29%5D%28https://b.test%29"
    private static let html = address.replacing("&", with: "&amp;")

    private func notification(_ links: [String?]) throws -> OutgoingNotification {
        let changes = links.enumerated().map { index, link in
            var change = Change(
                id: .floor(.ulid, at: Timestamp(seconds: 1_767_225_600 + Int64(index))),
                plan: "id \(index)",
                name: "v\(index)"
            )
            change.details = ItemDetails(link: link, fields: [:])
            return change
        }
        return OutgoingNotification(
            NotificationMessage(
                id: "ntf_1",
                runID: "run_1",
                poll: try #require(PollName("releases")),
                kind: .json,
                changes: changes,
                context: NotificationContext(),
                createdAt: Timestamp(seconds: 1_767_225_600)
            )
        )
    }

    private func sent(_ service: SinkFormat, _ links: [String?]) throws -> SinkJSON {
        let draft = SinkFormat.Draft(
            notification: try notification(links),
            room: "!r:chat.test",
            secret: Array("t".utf8)
        )
        return try SinkJSON(text: String(decoding: service.request(draft).body, as: UTF8.self))
    }

    @Test(
        arguments: [
            (.discord, "- [v0](\(address))\n- v1"), (.mattermost, "• [v0](\(address))\n• v1"),
            (.telegram, "• <a href=\"\(html)\">v0</a>\n• v1"),
            (.matrix, "<li><a href=\"\(html)\">v0</a></li><li>v1</li>"), (.apprise, "- v0: \(address)\n- v1"),
            (.slack, address), (.teams, address),
        ] as [(SinkFormat, String)]
    )
    func eachOfSeveralItemsHasItsOwnInAChat(service: SinkFormat, list: String) throws {
        let text = try sent(service, [Self.link, nil]).description
        #expect(text.contains(list), "\(text)")
        // Plain text has no markup, and ends with the link as it is.
        #expect(text.contains("<i>") == (service == .apprise))
    }

    @Test(arguments: [SinkFormat.discord, .mattermost, .telegram, .matrix, .apprise, .slack, .teams])
    func theOnlyItemIsLinked(service: SinkFormat) throws {
        let text = try sent(service, [Self.link]).description
        #expect(text.contains([.telegram, .matrix].contains(service) ? Self.html : Self.address), "\(text)")
        #expect(!text.contains("<i>") && !text.contains("timesafari:"))
    }

    /// These open it themselves, so that nothing reads it as markup.
    @Test func aTapOpensTheLink() throws {
        #expect(
            try sent(.gotify, [Self.link, nil])["extras"]["client::notification"]["click"]["url"].text == Self.link
        )
        #expect(try sent(.pushover, [Self.link, nil])["url"].text == Self.link)
        let ntfy = SinkOptions(name: "phone", kind: .ntfy(url: "https://ntfy.test", topic: "t", tokenFile: nil))
        #expect(try sent(NtfySink.format(of: ntfy), [Self.link, nil])["click"].text == Self.link)
    }

    @Test func aMailHasItForEachItemAndForAll() throws {
        let from = try MailAddress(parsing: "agent@example.org")
        func mail(_ links: [String?]) throws -> MailMessage {
            MailMessage(try notification(links), from: from, to: [from], catalogues: .builtIn)
        }
        let several = try mail([Self.link, nil])
        #expect(several.text.contains("- v0\n  \(Self.address)\n- v1"))
        #expect(several.text.hasSuffix("View Updates: \(Self.link)"))
        #expect(several.html.contains("href=\"\(Self.html)\">v0</a>"))
        #expect(try mail([Self.link]).text.hasSuffix("View Updates: \(Self.address)"))
        for mail in [several, try mail([Self.link])] { #expect(!mail.html.contains("<i>")) }
    }
}
