import StarwatchCore
import Testing

/// The names of a notification's changes, as sinks list them.
@Suite struct NotificationNamesTests {
    private func names(_ changes: [(plan: String, name: String?)]) throws -> NotificationNames {
        let changes = changes.enumerated().map { index, change in
            Change(
                id: JWTID.floor(.ulid, at: Timestamp(seconds: 1_767_225_600 + Int64(index))),
                plan: change.plan,
                name: change.name
            )
        }
        return NotificationNames(
            NotificationMessage(
                id: "ntf_1",
                runID: "run_1",
                poll: try #require(PollName("starred_projects")),
                kind: .starredProjects,
                changes: changes,
                context: NotificationContext(),
                createdAt: Timestamp(seconds: 1_767_225_600)
            )
        )
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
        var names = try names((0..<6).map { ("plan \($0)", "Creek") })
        names.limit = NotificationMessage.listedChanges
        let fitting = names.fitting(limit, size: { $0.name.utf16.count }, rest: { _ in 3 })
        #expect(fitting.shown.count == shown && fitting.others == others)
    }

    @Test func theNumberOfTheOthersIsToldInEveryLanguage() throws {
        for (locale, text) in [("en", "and 3 more"), ("pl", "i jeszcze 3"), ("ja", "他3件")] {
            let messages = MessageCatalogues.builtIn.messages(for: try #require(LocaleTag(locale)))
            #expect(messages.text(.moreNames, [.count: .number(3)]) == text)
        }
    }
}
