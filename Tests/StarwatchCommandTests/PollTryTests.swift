import ArgumentParser
import StarwatchCore
import Testing

@testable import Starwatch
@testable import StarwatchCommand

@Suite struct PollTryTests {
    private var options: AgentOptions {
        var options = AgentOptions()
        options.polls = [
            PollOptions(name: PollName("releases")!, kind: .json),
            PollOptions(name: PollName("stars")!, kind: .starredProjects),
        ]
        return options
    }

    @Test func onlyAListCanBeTried() throws {
        #expect(try PollTryCommand.list("releases", in: options).name.rawValue == "releases")
        for (name, sentence) in [
            ("release", "There is no poll \"release\"; did you mean \"releases\"?"),
            ("x", "There is no poll \"x\"; the lists are releases."),
            ("stars", "stars is of the kind starred_projects, and only json can be tried; run 'starwatch doctor'."),
        ] {
            let error = #expect(throws: CommandError.self) { try PollTryCommand.list(name, in: options) }
            #expect(error?.sentences == [sentence])
        }
    }

    @Test func aPageIsATableWithWhatIsMissing() {
        var trial = ListTrial(poll: "releases")
        (trial.status, trial.fetched, trial.refused, trial.hasNext) = (200, 3, 1, true)
        trial.items = [
            .init(id: "1", version: "a", name: "One\u{1b}[31m", link: "https://a.test/1", fields: ["author": "b"]),
            .init(id: "2", version: nil, name: nil, link: nil, fields: [:]),
        ]
        trial.gaps = [.init(setting: "name", pointer: "/title", items: 1)]
        trial.refusals = ["/data/2/id: missing"]
        trial.places = ["/id", "/name"]
        #expect(
            trial.text == """
                releases: 3 items, 1 of which cannot be read, and a next page.
                ID  VERSION   NAME      LINK              AUTHOR
                1   a         One?[31m  https://a.test/1  b
                2   (digest)  -         -                 -
                name: 1 item of 3 without /title.
                Cannot be read: /data/2/id: missing
                The first item has: /id /name
                """
        )
        #expect(trial.isGood)
    }

    @Test func aProblemShowsWhatTheAnswerHas() {
        var trial = ListTrial(poll: "releases")
        (trial.status, trial.problem) = (200, "The answer has no value at /data; correct items.")
        (trial.list, trial.places) = ("/items", ["/items", "/total"])
        #expect(
            trial.text == """
                releases: The answer has no value at /data; correct items.
                There is a list at /items; write items: /items.
                The answer has: /items /total
                """
        )
        #expect(!trial.isGood)
    }

    @Test func anEmptyListIsGood() {
        let trial = ListTrial(poll: "releases")
        #expect(trial.isGood && trial.text == "releases: 0 items, no next page.")
    }

    @Test func aPollIsRunWithoutTheWord() throws {
        for arguments in [["poll", "stars"], ["poll", "run", "stars"]] {
            #expect(try StarwatchTool.parseAsRoot(arguments) is AskCommand<PollArguments, 0>)
        }
        #expect(try StarwatchTool.parseAsRoot(["poll", "try", "releases"]) is PollTryCommand)
    }
}
