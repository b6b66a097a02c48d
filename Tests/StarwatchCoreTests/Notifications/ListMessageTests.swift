import Foundation
import Testing

@testable import StarwatchCore

/// The notification of a list's items.
@Suite struct ListMessageTests {
    private static let link = "https://a.test/2"

    private func members(_ message: NotificationMessage) throws -> [[String: Any]] {
        let json = try JSONSerialization.jsonObject(with: Data(message.json())) as? [String: Any]
        return try #require(json?["changes"] as? [[String: Any]])
    }

    @Test(arguments: [
        ("en", false, "New or Changed", "v2 is new or has changed"), ("en", true, "Changed", "v2 has changed"),
        ("pl", false, "Nowe lub zmienione", "Nowe lub zmienione: v2"), ("pl", true, "Zmienione", "Zmienione: v2"),
        ("ja", false, "新規または変更", "新規または変更：v2"), ("ja", true, "変更", "v2が変更されました"),
    ])
    func anItemIsNamedInEveryLanguage(locale: String, isEdited: Bool, title: String, body: String) throws {
        let message = try ListMessages.message([ListMessages.change(0, isEdition: isEdited)], locale: locale)
        #expect(message.title == title && message.body == body)
    }

    @Test func itHasItsLinkAndValuesAndWithoutANameItsID() throws {
        let message = try ListMessages.message([
            ListMessages.change(0, name: nil, link: Self.link, fields: ["author": "Ann"]), ListMessages.change(1),
        ])
        let items = try members(message)
        #expect(items[0]["name"] as? String == "id 0" && items[0]["plan"] as? String == "id 0")
        #expect(items[0]["link"] as? String == Self.link)
        #expect(items[0]["values"] as? [String: String] == ["author": "Ann"])
        #expect(Set(items[1].keys) == ["jwt_id", "plan", "name", "changed_at"])
        #expect(NotificationMessage(json: message.json()) == message)
    }

    @Test func theMessageOfAPlanIsAsBefore() throws {
        let message = try ListMessages.message(
            [ListMessages.change(0)],
            poll: "starred_projects",
            kind: .starredProjects
        )
        let id = message.changes[0].jwtID
        #expect(
            String(decoding: message.json(), as: UTF8.self) == """
                {"action_labels":{"dismiss":"Dismiss","mark_read":"Mark as Read","snooze_1h":"Snooze 1 Hour",\
                "view_project":"View Project"},"actions":["view_project","dismiss","snooze_1h","mark_read"],\
                "body":"v2 has been updated","changes":[{"changed_at":"2026-01-01T00:00:00.000Z","jwt_id":"\(id)",\
                "name":"v2","plan":"id 0"}],"collapse_key":"starred-projects","count":1,\
                "created_at":"2026-01-01T00:00:00.000Z",\
                "deep_link":"timesafari://projects/id%200/details?jwtId=\(id)","group":"single",\
                "id":"ntf_starred_projects","locale":"en","poll":"starred_projects","run_id":"run_1",\
                "title":"Project Update"}
                """
        )
    }

    @Test(arguments: [
        ([nil], DeepLink.notifications.url), (["https://a.test/1"], "https://a.test/1"),
        ([nil, "https://a.test/1", "https://a.test/2", nil], "https://a.test/2"),
        (["https://a.test/9", "https://a.test/1"], "https://a.test/1"),
        ([nil, nil], DeepLink.notifications.url),
    ])
    func aTapOpensTheNewestLink(links: [String?], target: String) throws {
        let changes = links.enumerated().map { ListMessages.change($0, link: $1) }
        for changes in [changes, changes.reversed()] {
            let message = try ListMessages.message(changes)
            #expect(message.deepLink == target)
            // The app knows no project of it.
            #expect(message.actions.first == "view_updates")
        }
    }

    @Test func theRestAfterADiscardKeepsLinksAndValues() throws {
        let changes = (0..<3).map {
            ListMessages.change($0, link: "https://a.test/\($0)", fields: ["author": "Ann \($0)"])
        }
        let whole = try ListMessages.message(changes)
        var texts = PollTexts()
        texts.single = "{name} by {author}"
        let rest = try #require(
            try whole.without(
                [changes[1].id, changes[2].id],
                offers: [],
                poll: PollName("releases")!,
                kind: .json,
                context: ListMessages.context(["releases": texts])
            )
        )
        #expect(rest.changes == [whole.changes[0]] && rest.deepLink == "https://a.test/0")
        #expect(rest.body == "v2 by Ann 0")
    }

    /// Joins what a sink held: of two lists, and of starred projects if there are any.
    private func joined(_ projects: Int, without discarded: [Int] = []) throws -> NotificationMessage {
        func news(_ numbers: [Int], _ poll: String) throws -> NotificationMessage {
            try ListMessages.message(
                numbers.map { ListMessages.change($0, link: "https://\(poll).test/\($0)") },
                poll: poll
            )
        }
        let plans = (20..<20 + projects).map { ListMessages.change($0) }
        let stars = try ListMessages.message(plans, poll: "starred_projects", kind: .starredProjects)
        let held = [try news([3], "releases"), try news([1, 2], "issues")] + (projects == 0 ? [] : [stars])
        let whole = try #require(NotificationPolls.joining(held, id: "ntf_9", createdAt: ListMessages.time))
        var texts = PollTexts()
        (texts.title, texts.single) = ("Releases", "{name} is out")
        var context = try ListMessages.context(["releases": texts])
        context.kinds = [
            PollName("releases")!: .json, PollName("issues")!: .json,
            PollName("starred_projects")!: .starredProjects,
        ]
        return try #require(
            whole.without(
                Set(discarded.map { ListMessages.change($0).id }),
                offers: [],
                poll: PollName(whole.poll)!,
                kind: projects == 0 ? .json : .starredProjects,
                context: context
            )
        )
    }

    @Test func eachListHasItsOwnLineAfterTheKindsOfTheServer() throws {
        let message = try joined(2)
        #expect(message.title == "New Activity")
        #expect(
            message.body == """
                You have 2 new updates in your starred projects
                2 items are new or have changed
                v2 is out
                """
        )
        #expect(message.polls == ["starred_projects", "issues", "releases"])
        #expect(message.changes.map(\.plan) == ["id 20", "id 21", "id 1", "id 2", "id 3"])
        #expect(message.changes.last?.link == "https://releases.test/3")
    }

    @Test func theAppOpensOnlyWhatIsOfTheServer() throws {
        let (several, one) = (try joined(2), try joined(1))
        let ids = several.changes.prefix(2).map(\.jwtID).joined(separator: ",")
        #expect(several.deepLink == "timesafari://projects/updates?jwtIds=\(ids)")
        #expect(one.deepLink == "timesafari://projects/id%2020/details?jwtId=\(one.changes[0].jwtID)")
        #expect(try joined(0).deepLink == "https://releases.test/3")
    }

    @Test func aListThatIsLeftAloneHasItsTitleAndNoProject() throws {
        let message = try joined(1, without: [1, 2, 20])
        #expect(message.title == "Releases" && message.body == "v2 is out" && message.group == .single)
        #expect(message.actions.first == "view_updates" && message.deepLink == "https://releases.test/3")
    }
}
