import Testing

@testable import StarwatchCore

/// Texts of a list's own.
@Suite struct PollTextsTests {
    private func texts(_ title: String? = nil, single: String? = nil, several: String? = nil) -> PollTexts {
        var texts = PollTexts()
        (texts.title, texts.single, texts.several) = (title, single, several)
        return texts
    }

    private func single(
        _ text: String,
        name: String? = "v2",
        link: String? = nil,
        fields: [String: String] = [:],
        locale: String = "en"
    ) throws -> NotificationMessage {
        try message([ListMessages.change(0, name: name, link: link, fields: fields)], texts(single: text), locale)
    }

    private func message(_ changes: [Change], _ texts: PollTexts, _ locale: String = "en") throws -> NotificationMessage
    {
        try ListMessages.message(changes, texts: ["releases": texts], locale: locale)
    }

    @Test func goodTextsHaveNoProblem() {
        let good = texts(
            "{count, plural, one {Release} other {Releases}}",
            single: "{name} ({id}) by {author}: {link}, {kind, select, beta {a beta} other {final}}",
            several: "{count} releases, '{'all'}' of them"
        )
        #expect(good.problems(fields: ["author", "kind"]).isEmpty)
        #expect(PollTexts().problems(fields: []).isEmpty)
    }

    @Test(arguments: [
        ("", "is empty, or a branch that is all of it; write a text, or remove the key."),
        ("{author} is out", "has no variable {author}; use {id}, {kind}, {link}, {name}."),
        ("{count} are out", "has no variable {count}; use {id}, {kind}, {link}, {name}."),
        ("{name", "cannot be read: expected , (character 6). Correct it."),
        ("{name, plural, other {x}}", "uses the text name in a plural; use select."),
        ("{kind, select, a {} other {x}}", "is empty, or a branch that is all of it; write a text, or remove the key."),
    ])
    func aMistakeInTheTextOfOneChangeIsNamed(text: String, problem: String) {
        let problems = texts(single: text).problems(fields: ["kind"])
        #expect(problems.map(\.key) == ["single"] && problems.map(\.problem) == [problem])
    }

    @Test func theOtherTextsHaveOnlyACount() {
        let bad = texts("{name}", single: "{name}", several: "{count, select, other {x}}")
        let problems = bad.problems(fields: ["kind"])
        #expect(problems.map(\.key) == ["title", "several"])
        #expect(
            problems.map(\.problem) == [
                "has no variable {name}; use {count}.", "uses the number count in a select; use plural.",
            ]
        )
    }

    @Test func oneChangeIsToldWithItsValues() throws {
        let text = "{name} by {author} ({id}): {link}"
        let message = try single(text, link: "https://a.test/2", fields: ["author": "Ann", "name": "no name"])
        #expect(message.body == "v2 by Ann (id 0): https://a.test/2")
        #expect(message.title == "New or Changed")
    }

    @Test func aMissingValueIsEmptyAndATextThatNobodySeesIsTheCatalogues() throws {
        #expect(try single("{name}: {author}.").body == "v2: .")
        #expect(try single("{author} {link}").body == "v2 is new or has changed")
        // The configuration reports it, and a notification must still have a text.
        #expect(try single("{name").body == "v2 is new or has changed")
        #expect(try single("{name}!", name: nil).body == "id 0!")
    }

    @Test func noValueTurnsTheTextAroundIt() throws {
        let message = try single("{name} by {author}", name: "\u{202E}evil", fields: ["author": "גן"])
        #expect(message.body == "evil by \u{2068}גן\u{2069}")
    }

    @Test(arguments: [
        ("en", 2, "2 many"), ("pl", 2, "2 few"), ("pl", 5, "5 many"), ("ja", 5, "5 other"),
    ])
    func severalAreCountedByThePluralsOfTheLocale(locale: String, count: Int, body: String) throws {
        let forms =
            "{count, plural, one {# one} few {# few} many {# many} other {# \(locale == "en" ? "many" : "other")}}"
        let changes = (0..<count).map { ListMessages.change($0) }
        let message = try message(changes, texts("{count} Releases", several: forms), locale)
        #expect(message.body == body && message.title == "\(count) Releases")
    }

    @Test func theFirstPartOfALargeGroupTellsTheTotal() throws {
        let own = texts("Releases", single: "{name}", several: "{count} releases")
        let changes = (0..<2).map { ListMessages.change($0) }
        func part(_ number: Int) throws -> NotificationMessage {
            try ListMessages.message(
                changes,
                texts: ["releases": own],
                part: NotificationPart(number: number, of: 2, total: 102)
            )
        }
        #expect(try part(1).body == "102 releases" && part(2).body == "2 more of 102")
        #expect(try part(2).title == "Releases")
    }
}
