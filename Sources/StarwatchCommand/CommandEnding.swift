import ArgumentParser
import Foundation
import Starwatch
import StarwatchCore

/// The program's end: its exit code and the rest of its output.
struct CommandEnding: Sendable, Hashable {
    var exitCode: CommandExitCode
    var output = ""
    var errorLines: [String] = []

    static let good = CommandEnding(exitCode: .good)

    private init(exitCode: CommandExitCode, output: String = "", errorLines: [String] = []) {
        self.exitCode = exitCode
        self.output = output
        // They can repeat arguments and answers of strangers.
        self.errorLines = errorLines.map(TerminalText.printable)
    }

    /// The ending for an error of a command. ArgumentParser exits 64 for usage errors; here they exit 2.
    ///
    /// - Parameter arguments: The arguments without the program's name, which select the help to point to.
    init(_ error: any Error, arguments: [String]) {
        if let error = CommandError(error) {
            self.init(exitCode: error.exitCode, errorLines: error.lines)
            return
        }
        switch StarwatchTool.exitCode(for: error) {
        case .success where Self.asksForUnknownHelp(arguments):
            let arguments = Array(arguments.dropFirst())
            let help = (["starwatch"] + Self.commandPath(arguments) + ["--help"]).joined(separator: " ")
            let sentence = Self.unknownCommand(arguments) ?? "There is no such command."
            self.init(exitCode: .usage, errorLines: ["starwatch: \(sentence) See '\(help)'."])
        case .success:
            self.init(exitCode: .good, output: Self.wrapped(StarwatchTool.fullMessage(for: error)))
        case .validationFailure:
            let lines = StarwatchTool.message(for: error).split(separator: "\n").map { String($0).trimmingSpaces }
            let sentence = Self.unknownCommand(arguments) ?? lines.joined(separator: " ")
            let end = sentence.last.map { ".?!".contains($0) } ?? true ? "" : "."
            let help = (["starwatch"] + Self.commandPath(arguments) + ["--help"]).joined(separator: " ")
            self.init(exitCode: .usage, errorLines: ["starwatch: \(sentence)\(end) See '\(help)'."])
        default:
            self.init(exitCode: .failed, errorLines: ["starwatch: \(StarwatchTool.message(for: error))"])
        }
    }

    /// Whether it is `help` of a command that does not exist, for which ArgumentParser shows the help of the one above.
    private static func asksForUnknownHelp(_ arguments: [String]) -> Bool {
        guard arguments.first == "help" else { return false }
        let words = arguments.dropFirst().filter { !$0.hasPrefix("-") }
        return commandPath(words) != words
    }

    /// The subcommands at the start of `arguments`.
    static func commandPath(_ arguments: [String]) -> [String] {
        var path: [String] = []
        var names = subcommands(of: path)
        for argument in arguments {
            guard names.contains(argument) else { break }
            path.append(argument)
            names = subcommands(of: path)
        }
        return path
    }

    /// The sentence for an unknown command name; `nil` if the error is another one.
    private static func unknownCommand(_ arguments: [String]) -> String? {
        let path = commandPath(arguments)
        // Its word can be the name of a poll.
        if path == ["poll"] { return nil }
        let names = subcommands(of: path)
        guard !names.isEmpty, let word = arguments.dropFirst(path.count).first, !word.hasPrefix("-") else { return nil }
        let command = (path + [word]).joined(separator: " ")
        return "There is no command \"\(command)\"\(Suggestion.tail(for: word, among: names))"
    }

    private static func subcommands(of path: [String]) -> [String] {
        var command: any ParsableCommand.Type = StarwatchTool.self
        for name in path {
            guard let next = command.configuration.subcommands.first(where: { $0._commandName == name }) else { break }
            command = next
        }
        return command.configuration.subcommands.map { $0._commandName }
    }
}

/// The help of a command in 80 columns. ArgumentParser wraps all but the line of the usage.
extension CommandEnding {
    private static let width = 80

    private static func wrapped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("USAGE: ") && $0.count > width ? wrapped(usage: $0) : String($0) }
            .joined(separator: "\n")
    }

    private static func wrapped(usage line: Substring) -> String {
        var lines: [String] = [""]
        for word in words(of: line) {
            let line = lines[lines.count - 1]
            if line.isEmpty {
                lines[lines.count - 1] = word
            } else if line.count + 1 + word.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append("         " + word)
            }
        }
        return lines.joined(separator: "\n")
    }

    /// The words; text in brackets is one.
    private static func words(of line: Substring) -> [String] {
        line.split(separator: " ").reduce(into: []) { words, part in
            let isOpen = words.last.map { $0.count { $0 == "[" } > $0.count { $0 == "]" } } ?? false
            if isOpen { words[words.count - 1] += " " + part } else { words.append(String(part)) }
        }
    }
}
