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
    /// Whether the first poll announces the changes of the last week.
    var announcesLastWeek = false
    var sink = SetupSink.log
    /// The operator's file with the secret of the sink; `nil` for none.
    var sinkSecret: String?
    /// Whether a new database is encrypted.
    var isEncrypted = true

    /// The command line that gives the same answers.
    var command: String {
        var words = ["starwatch", "init", "--server", server]
        if let dialect { words += ["--dialect", dialect] }
        switch token {
        case .none: break
        case .key(let file): words += ["--key-file", file]
        case .sharedSecret(let file): words += ["--secret-file", file]
        case .pool(let file): words += ["--tokens-file", file]
        }
        if let did { words += ["--did", did.rawValue] }
        for star in stars { words += ["--star", star] }
        if announcesLastWeek { words.append("--announce-last-week") }
        words += ["--sink", sink.text]
        if let sinkSecret { words += ["--sink-secret-file", sinkSecret] }
        if !isEncrypted { words.append("--no-encryption") }
        return words.map(Self.quoted).joined(separator: " ")
    }

    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { $0.isAlphanumeric || "-_./:,@=+".utf8.contains($0) }
        return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
}

extension UInt8 {
    fileprivate var isAlphanumeric: Bool {
        (48...57).contains(self) || (65...90).contains(self) || (97...122).contains(self)
    }
}

/// The sink of a new configuration, written as `KIND` or `KIND:TARGET`.
enum SetupSink: Sendable, Hashable {
    case log
    case feed
    case file(path: String)
    case webhook(url: String)
    case ntfy(url: String, topic: String)
    case command(program: String)

    /// The forms that ``init(_:)`` reads.
    static let forms = "feed, log, webhook:URL, ntfy:URL/TOPIC, command:PROGRAM or file:PATH"

    /// `nil` for any other text.
    ///
    /// - Parameter folder: The folder where relative paths start; `nil` for the current one.
    init?(_ text: String, relativeTo folder: String? = nil) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let target = parts.count == 2 ? parts[1] : ""
        switch parts[0] {
        case "log" where target.isEmpty: self = .log
        case "feed" where target.isEmpty: self = .feed
        case "file" where !target.isEmpty:
            let base = folder.map { URL(fileURLWithPath: $0, isDirectory: true) }
            self = .file(path: URL(fileURLWithPath: target, relativeTo: base).standardizedFileURL.path)
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

    /// The text that ``init(_:relativeTo:)`` reads.
    var text: String {
        switch self {
        case .log, .feed: name
        case .file(let path): "file:\(path)"
        case .webhook(let url): "webhook:\(url)"
        case .ntfy(let url, let topic): "ntfy:\(url)/\(topic)"
        case .command(let program): "command:\(program)"
        }
    }

    /// The problem of the sink, as a sentence; `nil` if it can be tried.
    var problem: String? {
        switch self {
        case .log, .feed, .file: nil
        case .webhook(let url): ValueRules.url(url, allowsQuery: true).map { "The URL of the sink \($0)" }
        case .ntfy(let url, let topic):
            (ValueRules.url(url) ?? ValueRules.topic(topic)).map { "The URL or the topic of the sink \($0)" }
        case .command(let program):
            program.contains("/") && !FileManager.default.isExecutableFile(atPath: program)
                ? "There is no program \(program) that can run; correct the path." : nil
        }
    }

    /// The name of the sink, which is also its kind.
    var name: String {
        switch self {
        case .log: "log"
        case .feed: "feed"
        case .file: "file"
        case .webhook: "webhook"
        case .ntfy: "ntfy"
        case .command: "command"
        }
    }

    /// The settings beside name and kind.
    var settings: [(key: String, value: String)] {
        switch self {
        case .log, .feed: []
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
        case .log, .feed, .file, .command: nil
        }
    }
}
