import Starwatch
import StarwatchCore
import Testing

@testable import StarwatchCommand

@Suite struct SetupListTests {
    private func list(_ url: String, _ json: String, link: String? = nil) throws -> SetupList {
        SetupList(url: url, headersFile: nil, places: try #require(ListGuess(Array(json.utf8), link: link)))
    }

    private func questions(_ answers: [String], told: @escaping (String) -> Void = { _ in }) -> SetupQuestions {
        var rest = answers[...]
        return SetupQuestions(ask: { _ in rest.popFirst() }, askHidden: { _ in nil }, tell: told)
    }

    @Test(arguments: [
        ("https://a.test/v1/releases", "releases"), ("https://a.test/Open-Issues.json?x=1", "open_issues"),
        ("https://a.test", "list"), ("https://a.test/v1/try", "v1"), ("https://a.test/items/42", "items"),
    ])
    func thePollIsNamedAfterThePath(url: String, name: String) {
        #expect(SetupList.name(for: url) == name)
    }

    @Test func theGuessIsAConfiguration() throws {
        let list = try list(
            "https://a.test/v1/releases?limit=50",
            #"{"data": [{"id": 1, "title": "A", "updated_at": "2026-01-02T00:00:00Z"}], "next_cursor": "c"}"#
        )
        var answers = SetupAnswers()
        answers.list = list
        let text = SetupFiles.text(answers, isPackaged: false, storage: nil)
        let options = try ConfigurationLoader(environment: [:], workingDirectory: "/")
            .load(text: text, file: "starwatch.yaml", directory: "/").options
        #expect(options.server.url == "https://a.test")
        let poll = try #require(options.polls.first)
        #expect(options.polls.count == 1 && poll.name.rawValue == "releases")
        #expect(poll.json?.query == ["limit": "50"])
        #expect(poll.json?.items == JSONPointer("/data") && poll.json?.version == JSONPointer("/updated_at"))
        #expect(poll.json?.next == .cursor(at: JSONPointer("/next_cursor")!, parameter: "cursor"))
        #expect(answers.command == "starwatch init --json 'https://a.test/v1/releases?limit=50' --sink log")
    }

    @Test func theOperatorCorrectsTheGuess() throws {
        let guessed = try list("https://a.test/items", #"[{"id": 1, "title": "A"}]"#)
        #expect(guessed.line == "- /id - /title -")
        var told: [String] = []
        let list = try questions(
            ["try", "mine", "/id", "data /id - - -", "- - - - -", "/data /key /at - -", "hourly", ""]
        ) { told.append($0) }.askList(guessed)
        #expect(list.name == "mine" && list.schedule == "*/15 * * * *")
        #expect(list.line == "/data /key /at - -")
        #expect(told.count == 5 && told.allSatisfy { $0.hasSuffix(".") }, "\(told)")
    }

    @Test func withoutAnswersTheGuessStays() throws {
        let guessed = try list("https://a.test/items", #"[{"id": 1, "title": "A"}]"#)
        #expect(try questions(["", "", ""]).askList(guessed) == guessed)
    }
}
