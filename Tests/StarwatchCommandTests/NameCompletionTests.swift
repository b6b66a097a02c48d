import ArgumentParser
import Starwatch
import StarwatchCore
import Testing

@testable import StarwatchCommand

@Suite struct NameCompletionTests {
    @Test func namesComeFromTheFileOfTheCommandLine() throws {
        let folder = try TemporaryFolder()
        let yaml = "polls: {mine: {kind: starred_projects}}\ndelivery: {sinks: [{name: phone, kind: log}]}\n"
        let file = try folder.write(yaml, to: "starwatch.yaml")
        let options = CompletionKind.options(["starwatch", "poll", "--config", file, ""])
        #expect(options?.polls.map(\.name.rawValue) == ["mine"])
        #expect(options?.delivery.sinks.map(\.name) == ["phone"])
        #expect(CompletionKind.options(["starwatch", "poll", "--config", "/nowhere"]) == nil)
    }

    @Test(arguments: [
        ("poll_run", "---completion poll run"), ("sinks_test", "---completion sinks test"),
        ("outbox_list", "-W 'pending'"), ("outbox_list", "---completion outbox list -- --poll"),
        ("logs", "-W 'debug'"), ("digests_show", "---completion digests show"),
        ("check", "__starwatch_add_completions -f"),
        ("init", "-W 'auto'"),
    ])
    func valuesAreCompleted(command: String, by completion: String) throws {
        let script = StarwatchTool.completionScript(for: .bash)
        let begin = try #require(script.firstRange(of: "\n_starwatch_\(command)() {"))
        let function = script[begin.upperBound...].split(separator: "\n}\n", maxSplits: 1).first ?? ""
        #expect(function.contains(completion), "\(function)")
    }
}
