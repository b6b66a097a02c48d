import ArgumentParser
import Starwatch
import StarwatchCore

/// The completion of names that the configuration contains. A shell runs the program for it, which reads the usual file or
/// that of `--config`.
enum NameCompletion {
    static let polls = CompletionKind.custom { words, _, _ in options(words)?.polls.map(\.name.rawValue) ?? [] }
    static let sinks = CompletionKind.custom { words, _, _ in options(words)?.delivery.sinks.map(\.name) ?? [] }
    static let digests = CompletionKind.custom { words, _, _ in options(words)?.digests.map(\.name.rawValue) ?? [] }
    static let pollsAndDigests = CompletionKind.custom { words, _, _ in
        (options(words)?.polls.map(\.name.rawValue) ?? []) + (options(words)?.digests.map(\.name.rawValue) ?? [])
    }

    /// - Parameter words: The words of the command line.
    static func options(_ words: [String]) -> AgentOptions? {
        let named = words.firstIndex(of: "--config").flatMap { words.dropFirst($0 + 1).first }
        return try? AgentAccess(config: named).configuration(secrets: false).options
    }
}
