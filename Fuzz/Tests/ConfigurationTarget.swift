@testable import StarwatchCommand

extension FuzzTarget {
    /// A file is taken or refused, and a refusal is one sentence for each thing that is wrong, with a line of the file.
    static let configuration = FuzzTarget(
        name: "configuration",
        words: [
            "\n", "\n  ", ": ", "- ", "[", "]", "{", "}", "&a", "*a", "<<: ", "!!int ", "|\n", ">\n", "---\n", "...\n",
            "#", "'",
            "\"", "null", "~", "1e999", "9223372036854775808", "server:", "polls:", "kind: ", "schedule: ", "every: ",
            "timezone: ", "url: ", "listen: ", "sinks:", "\u{85}", "\u{feff}", "\t",
        ],
        tries: 1500
    ) { input in
        let text = input.text
        let loader = ConfigurationLoader(environment: [:], workingDirectory: "/nonexistent")
        do throws(ConfigurationFailure) {
            let configuration = try loader.load(text: text, file: "f.yaml", directory: "/nonexistent")
            let printed = ConfigurationPrinter.yaml(configuration)
            return printed.isEmpty ? "nothing to print" : nil
        } catch {
            if error.problems.isEmpty { return "refused for nothing" }
            let lines = text.utf8.count { $0 == 10 || $0 == 13 || $0 > 127 } + 2
            for problem in error.problems {
                if problem.message.isEmpty || problem.message.contains("\n") { return "not one sentence" }
                if let line = problem.line, !(1...lines).contains(line) { return "line \(line) is not in the file" }
            }
            return nil
        }
    }
}
