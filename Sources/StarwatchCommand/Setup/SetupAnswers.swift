import Foundation
import Starwatch
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

    /// The secret of a sink.
    enum Secret: Sendable, Hashable {
        case file(String)
        /// The text that the operator typed.
        case typed(String)
    }

    var server = ""
    /// `nil` for the default.
    var dialect: String?
    var did: DID?
    var token = Token.none
    var stars: [String] = []
    /// The list to watch in place of an Endorser server; `nil` for none.
    var list: SetupList?
    /// The kinds of the polls beside that of starred projects.
    var polls: [PollKind] = []
    /// Whether the first poll announces the changes of the last week.
    var announcesLastWeek = false
    var sink = SetupSink(LogEntrySink.kind, .log, rank: 0)
    /// The secret of the sink; `nil` for none.
    var sinkSecret: Secret?
    /// Whether a new database is encrypted.
    var isEncrypted = true

    /// The command line that gives the same answers, except for a typed secret, which it asks for.
    var command: String {
        var words = ["starwatch", "init"]
        if let list {
            words += ["--json", list.url]
            if let file = list.headersFile { words += ["--headers-file", file] }
        } else {
            words += ["--server", server]
        }
        if let dialect { words += ["--dialect", dialect] }
        // The option has the name of the setting.
        if let copy = token.copy { words += ["--" + copy.setting.replacing("_", with: "-"), copy.source] }
        if let did { words += ["--did", did.rawValue] }
        for star in stars { words += ["--star", star] }
        for kind in polls { words += ["--poll", kind.rawValue] }
        if announcesLastWeek { words.append("--announce-last-week") }
        words += ["--sink", sink.text]
        if case .file(let file)? = sinkSecret { words += ["--sink-secret-file", file] }
        if !isEncrypted { words.append("--no-encryption") }
        return words.map(Self.quoted).joined(separator: " ")
    }

    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { $0.isAlphanumeric || "-_./:,@=+".utf8.contains($0) }
        return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
