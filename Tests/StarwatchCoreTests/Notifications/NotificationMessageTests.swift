import Foundation
import StarwatchCore
import Testing

@Suite struct NotificationMessageTests {
    private func message(
        _ count: Int,
        kind: PollKind = .starredProjects,
        name: String? = "Garden",
        part: NotificationPart? = nil
    ) throws -> NotificationMessage {
        let changes = (0..<count).map { index in
            Change(
                id: JWTID.floor(.ulid, at: Timestamp(seconds: 1_767_225_600 + Int64(index))),
                plan: "https://endorser.ch/entity/01ABC \(index)",
                name: name
            )
        }
        return NotificationMessage(
            id: "ntf_1",
            runID: "run_1",
            poll: try #require(PollName("starred_projects")),
            kind: kind,
            changes: changes,
            context: NotificationContext(largestGroup: 5, shortlink: Shortlink("abc123def456789"), part: part),
            createdAt: Timestamp(seconds: 1_767_225_600)
        )
    }

    @Test func oneChangeIsNamed() throws {
        let message = try message(1)
        #expect(message.group == .single)
        #expect(message.body == "Garden has been updated")
        let handle = "https%3A%2F%2Fendorser.ch%2Fentity%2F01ABC%200"
        #expect(message.deepLink == "timesafari://projects/\(handle)/details?jwtId=\(message.changes[0].jwtID)")
        #expect(try self.message(1, name: nil).body == "A starred project has been updated")
    }

    @Test func aNameDoesNotTurnTheTextAroundIt() throws {
        #expect(try message(1, name: "\u{202E}evil").body == "evil has been updated")
        let message = try message(1, name: "\u{202E}גן")
        #expect(message.body == "\u{2068}גן\u{2069} has been updated")
        // For a receiver the name is data.
        #expect(message.changes[0].name == "\u{202E}גן")
    }

    @Test(arguments: [false, true])
    func anOfferWithoutAPlanHasNoProjectLinkAndSaysWhetherItWasEdited(isEdited: Bool) throws {
        let id = JWTID.floor(.ulid, at: Timestamp(seconds: 1_767_225_600))
        let offer = Change(id: id, plan: "offer", name: "2 hours", isOffer: true, isEdition: isEdited)
        let message = NotificationMessage(
            id: "ntf_1",
            runID: "run_1",
            poll: try #require(PollName("offers")),
            kind: .offersToMe,
            changes: [offer],
            context: NotificationContext(largestGroup: 5, shortlink: nil),
            createdAt: Timestamp(seconds: 1_767_225_600)
        )
        #expect(message.deepLink == DeepLink.notifications.url)
        #expect(!message.actions.contains("view_project"))
        #expect(message.title == (isEdited ? "Offer Edited" : "New Offer"))
        #expect(message.body == (isEdited ? "An offer to you was edited: 2 hours" : "You have a new offer: 2 hours"))
        #expect(message.changes[0].edited == (isEdited ? true : nil))
    }

    @Test func aGiftStillHonoursAnOfferWhenAnotherOneIsDiscarded() throws {
        let ids = [0, 1].map { JWTID.floor(.ulid, at: Timestamp(seconds: 1_767_225_600 + $0)) }
        let context = NotificationContext(largestGroup: 5, shortlink: nil)
        let poll = try #require(PollName("gifts"))
        let message = NotificationMessage(
            id: "ntf_1",
            runID: "run_1",
            poll: poll,
            kind: .givesToMe,
            changes: [
                Change(id: ids[0], plan: "a", name: "2 hours", isOffer: true, fulfillsOffer: true),
                Change(id: ids[1], plan: "b", name: "1 hour", isOffer: true),
            ],
            context: context,
            createdAt: Timestamp(seconds: 1_767_225_600)
        )
        #expect(message.body == "You received 2 gifts" && message.changes.map(\.fulfillsOffer) == [true, nil])
        let rest = message.without([ids[1]], offers: Set(ids), poll: poll, kind: .givesToMe, context: context)
        #expect(rest?.body == "You received a gift that honours an offer: 2 hours")
        #expect(rest?.changes.map(\.fulfillsOffer) == [true])
    }

    @Test func severalAreCounted() throws {
        let message = try message(3)
        #expect(message.group == .several)
        #expect(message.title == "Project Updates")
        #expect(message.body == "You have 3 new updates in your starred projects")
        #expect(message.deepLink.hasPrefix("timesafari://projects/updates?jwtIds="))
        #expect(message.collapseKey == "starred-projects")
        #expect(message.actions.contains("view_updates"))
    }

    @Test func manyHaveAShortlinkAndAreAllListed() throws {
        let message = try message(250)
        #expect(message.group == .many)
        #expect(message.count == 250)
        #expect(message.changes.count == 250)
        #expect(message.deepLink == "timesafari://projects/updates?shortlink=abc123def456789")
    }

    @Test(arguments: [0, 1, 100, 101, 200, 250, 1000])
    func aGroupIsSplitIntoPartsOfAHundred(_ count: Int) {
        let parts = NotificationPart.split(Array(0..<count))
        #expect(parts.flatMap(\.items) == Array(0..<count))
        #expect(parts.count == (count + 99) / 100)
        #expect(parts.allSatisfy { (1...100).contains($0.items.count) })
        guard parts.count > 1 else {
            #expect(parts.allSatisfy { $0.part == nil })
            return
        }
        #expect(parts.compactMap(\.part?.number) == Array(1...parts.count))
        #expect(parts.allSatisfy { $0.part?.parts == parts.count && $0.part?.total == count })
    }

    @Test func thePartsOfAGroupTellItsSizeAndReplaceNoOther() throws {
        let first = try message(100, part: NotificationPart(number: 1, of: 3, total: 201))
        #expect(first.body == "You have 201 new updates in your starred projects")
        #expect(first.collapseKey == "starred-projects" && first.count == 100)
        let last = try message(1, part: NotificationPart(number: 3, of: 3, total: 201))
        #expect(last.title == "Project Updates" && last.body == "1 more of 201")
        #expect(last.collapseKey == "starred-projects_3")
        #expect(last.group == .many && last.actions.first == "view_updates")
        #expect(last.deepLink == "timesafari://projects/updates?shortlink=abc123def456789")
        #expect(last.part == 3 && last.parts == 3 && last.total == 201)
        #expect(NotificationMessage(json: last.json()) == last)
    }

    @Test func theRestOfANotificationHasItsOwnTextsUnderTheSameID() throws {
        let whole = try message(7)
        func rest(_ discarded: some Sequence<Int>) throws -> NotificationMessage? {
            whole.without(
                Set(try discarded.map { try #require(JWTID(whole.changes[$0].jwtID)) }),
                offers: [],
                poll: try #require(PollName("starred_projects")),
                kind: .starredProjects,
                context: NotificationContext()
            )
        }
        let several = try #require(try rest([0, 2]))
        #expect(several.id == whole.id && several.runID == whole.runID && several.createdAt == whole.createdAt)
        #expect(several.group == .several && several.count == 5)
        #expect(several.changes == [1, 3, 4, 5, 6].map { whole.changes[$0] })
        #expect(several.body == "You have 5 new updates in your starred projects")
        let single = try #require(try rest(0...5))
        #expect(single.body == "Garden has been updated" && single.actions.first == "view_project")
        #expect(try rest(0...6) == nil)
    }

    @Test(arguments: PollKind.allCases, [1, 2])
    func everyKindHasItsTexts(kind: PollKind, count: Int) throws {
        let message = try message(count, kind: kind)
        #expect(!message.title.isEmpty)
        #expect(message.body.contains(count == 1 ? "Garden" : "2"))
    }

    @Test func everyRetrySendsTheSameBytes() throws {
        let message = try message(3)
        let json = message.json()
        #expect(json == message.json())
        let copy = try JSONDecoder().decode(NotificationMessage.self, from: Data(json))
        #expect(copy == message)
        #expect(copy.json() == json)
        let keys = try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any]).keys
        #expect(
            Set(keys) == [
                "id", "run_id", "poll", "group", "collapse_key", "count", "title", "body", "locale", "created_at",
                "deep_link", "actions", "action_labels", "changes",
            ]
        )
    }

    @Test func theBytesAreThoseOfTheStableEncoder() throws {
        let controls = String(String.UnicodeScalarView((0...0x9F).map { Unicode.Scalar($0) }))
        for text in ["a", "", "/\\\"'<&>", "é 🌱 \u{2028}\u{FEFF}", controls] { try expectStableBytes(text) }
    }

    /// Expects the encoder's bytes of notifications with few and with all members, whose texts are `text`.
    private func expectStableBytes(_ text: String) throws {
        let fields: [String: Any] = [
            "status": ["before": text], "name": ["after": text], "url": [String: Any](),
            "description": ["before": text, "after": text],
        ]
        let change: [String: Any] = ["jwt_id": text, "plan": text, "changed_at": text]
        let named: [String: Any] = [
            "name": text, "fields": fields, "edited": true, "fulfills_offer": true, "poll": text,
            "link": text, "values": ["author": text, "a": text],
        ]
        let texts = ["id", "run_id", "poll", "collapse_key", "title", "body", "locale", "created_at", "deep_link"]
        let least: [String: Any] = [
            "group": "several", "count": 0, "actions": [String](), "changes": [[String: Any]](),
        ].merging(texts.map { ($0, text as Any) }) { $1 }
        let most: [String: Any] = [
            "count": 12, "part": 2, "parts": 3, "total": 201, "actions": [text, "b"], "repeats": text, "priority": text,
            "action_labels": ["view_updates": text, "dismiss": text], "cleared": true, "canary": false, "problem": text,
            "polls": [text, "b"],
            "changes": [change, change.merging(named) { $1 }],
        ]
        for members in [least, least.merging(most) { $1 }] {
            let json = try JSONSerialization.data(withJSONObject: members)
            let message = try #require(NotificationMessage(json: [UInt8](json)))
            #expect(String(decoding: message.json(), as: UTF8.self) == StableJSON.text(of: message))
            let written = try #require(try JSONSerialization.jsonObject(with: Data(message.json())) as? [String: Any])
            #expect(written.keys.sorted() == members.keys.sorted())
        }
    }
}
