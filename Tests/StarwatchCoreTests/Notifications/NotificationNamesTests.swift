import Testing

@testable import StarwatchCore

/// The names of a notification's changes, as sinks list them.
@Suite struct NotificationNamesTests {
    private func names(
        _ changes: [(plan: String, name: String?)],
        locale: String = "en",
        fields: [String]? = nil
    ) throws -> NotificationNames {
        let messages = MessageCatalogues.builtIn.messages(for: try #require(LocaleTag(locale)))
        var context = NotificationContext(messages: messages)
        let changes = changes.enumerated().map { index, change in
            Change(
                id: JWTID.floor(.ulid, at: Timestamp(seconds: 1_767_225_600 + Int64(index))),
                plan: change.plan,
                name: change.name
            )
        }
        if let fields {
            let pairs = fields.map { ($0, FieldChange(before: "a", after: "b")) }
            for change in changes { context.fields[change.id] = FieldChanges(Dictionary(uniqueKeysWithValues: pairs)) }
        }
        return NotificationNames(
            NotificationMessage(
                id: "ntf_1",
                runID: "run_1",
                poll: try #require(PollName("starred_projects")),
                kind: .starredProjects,
                changes: changes,
                context: context,
                createdAt: Timestamp(seconds: 1_767_225_600)
            ),
            catalogues: .builtIn
        )
    }

    /// A chat refuses the whole notification for one that is none.
    @Test(arguments: [
        ("https://endorser.ch/entity/1", true), ("https://a-b.xn--p1ai:8443/%C3%A9~x", true), ("https://a.test/", true),
        ("https://a/b", false), ("https://localhost/b", false), ("https://a.test", false), ("https://a.t/b", false),
        ("https://127.0.0.1/b", false), ("https://10.0.0.10/b", false), ("https://a..test/b", false),
        ("https://-a.test/b", false),
        ("https://a-.test/b", false), ("https://a.test./b", false), ("https://./b", false),
        ("https://a.test:0/b", false), ("https://a.test:65536/b", false), ("https://a.test:123456/b", false),
        ("https://a.test/%", false), ("https://a.test/%zz", false), ("http://a.test/b", false),
    ])
    func onlyAnAddressThatEveryChatTakesIsOne(plan: String, isOne: Bool) {
        #expect(NotificationNames.address(ofPlan: plan) == (isOne ? plan : nil))
    }

    /// What markup could read is percent-encoded, so that no format needs an escape but that of `&` in HTML.
    @Test(
        arguments: [
            ("https://a.test", "https://a.test"), ("http://a.test/x", "http://a.test/x"),
            ("HTTPS://A.test:8443/x", "HTTPS://A.test:8443/x"),
            ("https://a.test/r?id=5&x=a+b,c#top", "https://a.test/r?id=5&x=a+b,c#top"),
            ("https://a.test?q", "https://a.test?q"),
            ("https://a.test/@me:x/$1", "https://a.test/@me:x/$1"),
            ("https://a.test/%C3%A9%zz%", "https://a.test/%C3%A9%25zz%25"),
            ("https://a.test/é", "https://a.test/%C3%A9"), ("https://a.test/#a#b", "https://a.test/#a%23b"),
            ("https://a.test/\"><b>'`", "https://a.test/%22%3E%3Cb%3E%27%60"),
            ("https://a.test/a)*!;[x]|\\{}^ ", "https://a.test/a%29%2A%21%3B%5Bx%5D%7C%5C%7B%7D%5E%20"),
            ("https://localhost/b", nil), ("https://127.0.0.1/b", nil), ("https://user@a.test/", nil),
            ("https://a.test:0/b", nil), ("javascript:alert(1)", nil), ("https://a.test\u{a}/b", nil),
            ("https://a.test\\@b.test/", nil), ("https://a.test/" + String(repeating: "x", count: 1000), nil),
        ] as [(String, String?)]
    )
    func aLinkOfAListNeedsNoEscape(link: String, address: String?) {
        #expect(NotificationNames.address(ofLink: link) == address)
    }

    @Test func eachOfSeveralNamesHasTheAddressThatItsIDIs() throws {
        let names = try names([
            ("https://endorser.ch/entity/1", "Creek"), ("no address", "Fence"), ("https://a.test/x", nil),
            ("https://a.test/\"><b>", " "), ("https://user@a.test/", "Shelves"),
        ])
        let expected: [NotificationNames.Link] = [
            .init(name: "Creek", address: "https://endorser.ch/entity/1"), .init(name: "Fence", address: nil),
            .init(name: "A project without a name", address: "https://a.test/x"),
            .init(name: "A project without a name", address: nil), .init(name: "Shelves", address: nil),
        ]
        #expect(names.links == expected)
        #expect(try self.names([("https://a.test/x", "Creek")]).links.isEmpty)
    }

    @Test(
        arguments: [
            // Each name has 5 units, and what tells the others has 3.
            (30, 6, 0), (29, 5, 1), (28, 5, 1), (27, 4, 2), (8, 1, 5), (7, 0, 6), (0, 0, 6), (-1, 0, 6),
        ]
    )
    func whatFitsIsWholeNamesWithTheNumberOfTheOthers(limit: Int, shown: Int, others: Int) throws {
        let names = try names((0..<6).map { ("plan \($0)", "Creek") })
        let fitting = names.fitting(limit, size: { $0.name.utf16.count }, rest: { _ in 3 })
        #expect(fitting.shown.count == shown && fitting.others == others)
    }

    @Test func allChangesOfANotificationAreListed() throws {
        let links = try names((0..<100).map { ("plan \($0)", "Garden \($0)") }).links
        #expect(links.map(\.name) == (0..<100).map { "Garden \($0)" })
    }

    @Test(arguments: ["en", "ja", "pl"])
    func everyChangedFieldHasAWordInEveryLanguage(locale: String) throws {
        let fields = PlanDetails.Field.allCases.map(\.rawValue) + ClaimField.allCases.map(\.rawValue)
        for field in fields { #expect(MessageKey(rawValue: "notifications.field.\(field)") != nil, "\(field)") }
        let comma: Character = locale == "ja" ? "、" : ","
        let change = try #require(names([("plan", "Creek")], locale: locale, fields: fields).change)
        #expect(change.split(separator: comma).count == fields.count, "\(change)")
        let several = try names([("plan", "Creek"), ("other", "Fence")], locale: locale, fields: fields)
        #expect(several.links.map(\.change) == [change, change] && several.change == nil)
    }

    @Test func theNumberOfTheOthersIsToldInEveryLanguage() throws {
        for (locale, text) in [("en", "and 3 more"), ("pl", "i jeszcze 3"), ("ja", "他3件")] {
            let messages = MessageCatalogues.builtIn.messages(for: try #require(LocaleTag(locale)))
            #expect(messages.text(.moreNames, [.count: .number(3)]) == text)
        }
    }
}
