import Foundation
import StarwatchCore
import Testing

@testable import Starwatch

/// The names of several changes in chats.
@Suite struct ChatListTests {
    private static let entity = "https://endorser.ch/entity/"

    /// What a service gets for changes of starred projects.
    private func sent(
        _ service: SinkFormat,
        _ changes: [(plan: String, name: String?)],
        locale: String = "en"
    ) throws -> SinkJSON {
        let changes = changes.enumerated().map { index, change in
            Change(
                id: JWTID.floor(.ulid, at: Timestamp(seconds: 1_767_225_600 + Int64(index))),
                plan: change.plan,
                name: change.name
            )
        }
        let messages = MessageCatalogues.builtIn.messages(for: try #require(LocaleTag(locale)))
        let message = NotificationMessage(
            id: "ntf_1",
            runID: "run_1",
            poll: try #require(PollName("starred_projects")),
            kind: .starredProjects,
            changes: changes,
            context: NotificationContext(messages: messages),
            createdAt: Timestamp(seconds: 1_767_225_600)
        )
        let outgoing = OutgoingNotification(message)
        let request = try service.request(.init(notification: outgoing, room: "!r:chat.test", secret: Array("t".utf8)))
        return try SinkJSON(text: String(decoding: request.body, as: UTF8.self))
    }

    private static let three: [(plan: String, name: String?)] = [
        (entity + "1", "Creek & Co"), ("no address", "Fence"), (entity + "3", nil),
    ]
    private static let links: [(name: String, address: String?)] = [
        ("Creek & Co", entity + "1"), ("Fence", nil), ("A project without a name", entity + "3"),
    ]

    /// The text with the names.
    private func shown(by service: SinkFormat, _ json: SinkJSON) -> String? {
        switch service {
        case .discord: json["embeds"][0]["description"].text
        case .matrix: json["formatted_body"].text
        case .gotify, .pushover: json["message"].text
        case .apprise: json["body"].text
        case .slack, .teams: json.description
        case .mattermost, .telegram: json["text"].text
        default: nil
        }
    }

    @Test(
        arguments: [
            (
                .discord, "- [Creek & Co](\(entity)1)\n- Fence\n- [A project without a name](\(entity)3)"
            ),
            (
                .mattermost, "• [Creek &amp; Co](\(entity)1)\n• Fence\n• [A project without a name](\(entity)3)"
            ),
            (
                .telegram,
                "• <a href=\"\(entity)1\">Creek &amp; Co</a>\n• Fence\n• <a href=\"\(entity)3\">A project without a name</a>"
            ),
            (
                .matrix,
                """
                <ul><li><a href="\(entity)1">Creek &amp; Co</a></li><li>Fence</li>\
                <li><a href="\(entity)3">A project without a name</a></li></ul>
                """
            ),
            (.gotify, "• Creek & Co\n• Fence\n• A project without a name"),
            (.pushover, "• Creek & Co\n• Fence\n• A project without a name"),
            (
                .apprise,
                "- Creek & Co: \(entity)1\n- Fence\n- A project without a name: \(entity)3\n\nView Updates: timesafari://"
            ),
        ] as [(SinkFormat, String)]
    )
    func severalChangesAreNamedAndLinkedBelowTheText(service: SinkFormat, list: String) throws {
        let text = try #require(shown(by: service, try sent(service, Self.three)))
        #expect(text.contains("You have 3 new updates in your starred projects"))
        #expect(text.contains(list), "\(text)")
    }

    /// Their names are in fields without markup.
    @Test func slackAndTeamsGetTheNamesAsText() throws {
        let slack = try sent(.slack, Self.three)["blocks"][2]
        #expect(slack["type"].text == "rich_text" && slack["elements"][0]["type"].text == "rich_text_list")
        let items = slack["elements"][0]["elements"]
        #expect(items.count == 3)
        for (index, link) in Self.links.enumerated() {
            let item = items[index]["elements"][0]
            #expect(item["text"].text == link.name && item["url"].text == link.address)
            #expect(item["type"].text == (link.address == nil ? "text" : "link"))
        }
        let teams = try sent(.teams, Self.three)["attachments"][0]["content"]["body"]
        #expect(teams.count == 5)
        for (index, link) in Self.links.enumerated() {
            let run = teams[index + 2]["inlines"][0]
            #expect(teams[index + 2]["type"].text == "RichTextBlock" && run["type"].text == "TextRun")
            #expect(run["text"].text == "• " + link.name && run["selectAction"]["url"].text == link.address)
        }
    }

    @Test(arguments: SinkFormat.allCases)
    func aListThatIsTooLongHasWholeNamesAndTheNumberOfTheOthers(service: SinkFormat) throws {
        let name = String(repeating: "<*👩‍👩‍👧‍👦", count: 30)
        let json = try sent(service, (0..<100).map { (Self.entity + "\($0)", name) })
        let text = try #require(shown(by: service, json))
        let others = try #require(text.firstMatch(of: /and (\d+) more/).flatMap { Int($0.1) })
        func count(_ part: String) -> Int { text.components(separatedBy: part).count - 1 }
        let isLinked = ![SinkFormat.gotify, .pushover].contains(service)
        #expect(others > 0 && count(isLinked ? Self.entity : "• ") == 100 - others, "\(service)")
        switch service {
        case .slack: break
        case .teams:
            let bytes = try JSONSerialization.data(withJSONObject: try #require(json.value))
            #expect(bytes.count < 28_000)
        case .discord: #expect(text.utf16.count <= 4096 && count("](") == 100 - others)
        case .mattermost: #expect(text.utf16.count <= 12_600 && count("](") == 100 - others)
        case .telegram: #expect(text.utf16.count <= 4096 && count("<a ") == count("</a>"))
        case .matrix:
            #expect(text.utf8.count < 30_000 && count("<a ") == count("</a>") && count("<li>") == count("</li>"))
        case .gotify: #expect(text.utf16.count <= 12_000)
        case .apprise: #expect(text.utf16.count <= 12_200)
        case .pushover: #expect(text.utf16.count <= 1024)
        default: Issue.record("no limit of \(service)")
        }
    }

    @Test(arguments: [("en", "View Project", "and "), ("pl", "Zobacz projekt", "i jeszcze "), ("ja", "プロジェクトを表示", "他")])
    func theWordsBesideTheTextAreInItsLanguage(locale: String, label: String, more: String) throws {
        for service in SinkFormat.allCases {
            let one = try sent(service, [(Self.entity + "1", "Creek")], locale: locale).description
            // Discord links the title, and Gotify the notification itself.
            if service != .discord, service != .gotify { #expect(one.contains(label), "\(service)") }
            let name = String(repeating: "界", count: 200)
            let many = try sent(service, (0..<100).map { (Self.entity + "\($0)", name) }, locale: locale)
            #expect(many.description.contains(more), "\(service)")
        }
    }
}
