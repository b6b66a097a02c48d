import Foundation
import StarwatchCore

/// The answers to the questions of `starwatch init`.
struct SetupAnswers: Sendable, Hashable {
    /// The source of tokens, with the operator's file.
    enum Token: Sendable, Hashable {
        case none
        case key(file: String)
        case sharedSecret(file: String)
        case pool(file: String)

        /// The name of the file's copy beside the configuration, with the setting that names it and the `auth.kind`.
        var copy: (kind: String, setting: String, name: String, source: String)? {
            switch self {
            case .none: nil
            case .key(let file): ("did_key", "key_file", "key", file)
            case .sharedSecret(let file): ("shared_secret", "secret_file", "shared.secret", file)
            case .pool(let file): ("token_pool", "tokens_file", "tokens", file)
            }
        }
    }

    var server = ""
    /// `nil` for the default.
    var dialect: String?
    var did: DID?
    var token = Token.none
    var stars: [String] = []
    var sink = SetupSink.log
    /// The operator's file with the secret of the sink; `nil` for none.
    var sinkSecret: String?
}

/// The sink of a new configuration, written as `KIND` or `KIND:TARGET`.
enum SetupSink: Sendable, Hashable {
    case log
    case file(path: String)
    case webhook(url: String)
    case ntfy(url: String, topic: String)
    case command(program: String)

    /// The forms that ``init(_:)`` reads.
    static let forms = "log, webhook:URL, ntfy:URL/TOPIC, command:PROGRAM or file:PATH"

    /// `nil` for any other text. A relative path starts at the current folder.
    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let target = parts.count == 2 ? parts[1] : ""
        switch parts[0] {
        case "log" where target.isEmpty: self = .log
        case "file" where !target.isEmpty:
            self = .file(path: URL(fileURLWithPath: target).standardizedFileURL.path)
        case "webhook" where !target.isEmpty: self = .webhook(url: target)
        case "command" where !target.isEmpty: self = .command(program: target)
        case "ntfy":
            guard let slash = target.lastIndex(of: "/"), target[..<slash].contains("://"),
                !target[..<slash].hasSuffix("/"), target.index(after: slash) < target.endIndex
            else { return nil }
            self = .ntfy(url: String(target[..<slash]), topic: String(target[target.index(after: slash)...]))
        default: return nil
        }
    }

    /// The name of the sink, which is also its kind.
    var name: String {
        switch self {
        case .log: "log"
        case .file: "file"
        case .webhook: "webhook"
        case .ntfy: "ntfy"
        case .command: "command"
        }
    }

    /// The settings beside name and kind.
    var settings: [(key: String, value: String)] {
        switch self {
        case .log: []
        case .file(let path): [("path", ConfigurationPrinter.scalar(path))]
        case .webhook(let url): [("url", ConfigurationPrinter.scalar(url))]
        case .ntfy(let url, let topic):
            [("url", ConfigurationPrinter.scalar(url)), ("topic", ConfigurationPrinter.scalar(topic))]
        case .command(let program): [("argv", ConfigurationPrinter.list([program]))]
        }
    }

    /// The setting of the sink's secret with the name of its copy; `nil` for a sink without one.
    var secret: (setting: String, name: String)? {
        switch self {
        case .webhook: ("secret_file", "hook.secret")
        case .ntfy: ("token_file", "ntfy.token")
        case .log, .file, .command: nil
        }
    }
}
