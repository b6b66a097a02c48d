import Foundation
import Starwatch
import Synchronization

/// The failure of a command, with its exit code and its sentence.
enum CommandError: Error, Sendable {
    /// No configuration file was named, and none is in the usual places.
    case noConfiguration
    case configuration(ConfigurationFailure)
    /// Any other failure. The sentence is `nil` if the command has printed its result, such as a degraded status.
    case other(CommandExitCode, String?)

    /// The arguments parse but make no sense.
    static func usage(_ sentence: String) -> CommandError { .other(.usage, sentence) }

    static func failed(_ sentence: String) -> CommandError { .other(.failed, sentence) }

    /// The command has printed its result, and only the exit code is left.
    static func printed(_ code: CommandExitCode) -> CommandError { .other(code, nil) }

    /// The error of a command; `nil` for one of ArgumentParser and of the system.
    init?(_ error: any Error) {
        switch error {
        case let error as CommandError: self = error
        case let error as ConfigurationFailure: self = .configuration(error)
        case let error as AgentError: self = .other(CommandExitCode(error), error.message)
        case let error as ControlError: self = .other(CommandExitCode(error.kind), error.message)
        default: return nil
        }
    }

    /// The error with the advice to name the database, if the configuration cannot be read.
    var advisingDatabase: CommandError {
        switch self {
        case .noConfiguration:
            return .usage("No configuration file was found; name one with --config, or the database with --database.")
        case .configuration(var failure):
            failure.advice = "To read the database without the configuration, name it with --database."
            return .configuration(failure)
        case .other: return self
        }
    }

    var exitCode: CommandExitCode { if case .other(let code, _) = self { code } else { .usage } }

    /// The lines for standard error: a sentence, or one line per problem of the configuration. Control characters,
    /// which can come from a file or an agent, are shown as `?`.
    var lines: [String] { rawLines.map(TerminalText.printable) }

    private var rawLines: [String] {
        if case .configuration(let failure) = self { return failure.lines }
        return sentences.map { "starwatch: \($0)" }
    }

    /// The sentences without the name of the program.
    var sentences: [String] {
        switch self {
        case .noConfiguration:
            ["No configuration file was found; name one with --config, or write one with 'starwatch init'."]
        case .configuration(let failure): failure.lines
        case .other(_, let sentence): sentence.map { [$0] } ?? []
        }
    }
}

/// The exit codes, which scripts rely on.
enum CommandExitCode: Int32, Sendable {
    case good = 0
    /// The operation failed, or the agent is degraded.
    case failed = 1
    /// Usage or configuration.
    case usage = 2
    /// No agent answers.
    case unreachable = 3

    init(_ error: AgentError) {
        self = error.kind == .configuration && !error.concernsDatabase ? .usage : .failed
    }

    init(_ kind: ControlError.Kind) {
        switch kind {
        case .invalid: self = .usage
        case .unreachable, .timedOut: self = .unreachable
        case .notFound, .conflict, .busy, .failed, .hungUp, .unintelligible, .cancelled: self = .failed
        }
    }
}

/// Notes of a command beside its result.
enum StandardError {
    private static let said = Mutex<Set<String>>([])

    /// Writes a line, in the journal with its priority.
    static func say(_ line: String, _ level: LogOptions.Level = .notice) {
        FileHandle.standardError.write(Data((level.marked(line, on: STDERR_FILENO) + "\n").utf8))
    }

    /// Writes a line, unless this command has written it already. Control characters are shown as `?`.
    static func sayOnce(_ line: String) {
        guard said.withLock({ $0.insert(line).inserted }) else { return }
        say(TerminalText.printable(line), .warning)
    }
}
