import Foundation
import Starwatch
import StarwatchCore

/// The sink of a new configuration, written as `KIND` or `KIND:TARGET`.
enum SetupSink: Sendable, Hashable {
    case log
    case feed
    case file(path: String)
    case webhook(url: String)
    case ntfy(url: String, topic: String)
    /// Mails that an address sends to itself.
    case email(url: String, address: String)
    /// - Parameters:
    ///   - url: `nil` for the public address of the service.
    ///   - room: `nil` for a service without rooms.
    case chat(ChatService, url: String?, room: String?)
    case command(program: String)

    /// The forms of the sinks without questions.
    private static let plainForms = ["feed", "log", "webhook:URL", "ntfy:URL/TOPIC", "command:PROGRAM", "file:PATH"]

    /// The names of the sinks for whose parts ``questions(of:)`` asks, with the forms that need no question.
    private static let askedForms: [(name: String, form: String)] = {
        var forms = [(name: "email", form: "email:smtps://HOST/ADDRESS")]
        for service in ChatService.allCases {
            let parts = [service.standardURL == nil ? "URL" : nil, service.needsRoom ? "RECEIVER" : nil]
            let target = parts.compactMap(\.self).joined(separator: "/")
            forms.append((name: service.rawValue, form: "\(service.rawValue):\(target)"))
        }
        return forms
    }()

    /// The forms that ``init(_:relativeTo:)`` reads.
    static let forms = list(plainForms + askedForms.map { $0.form })

    /// The forms where questions are answered.
    static let shortForms = list(plainForms + askedForms.map { $0.name })

    private static func list(_ forms: [String]) -> String {
        forms.dropLast().joined(separator: ", ") + " or " + (forms.last ?? "")
    }

    /// The form of a sink that is only named; `nil` for any other text.
    static func form(of name: String) -> String? { askedForms.first { $0.name == name }?.form }

    /// The questions for the parts of a sink that is only named; `nil` for any other text.
    static func questions(of text: String) -> [String]? {
        if text == "email" {
            return ["Mail server, such as smtps://mail.example.org", "Your address, which also sends the mails"]
        }
        guard let service = ChatService(rawValue: text) else { return nil }
        let url = service.hasSecretURL ? "Address that \(text) gave" : "Server of \(text), such as https://example.org"
        return (service.standardURL == nil ? [url] : [])
            + (service.needsRoom ? ["Receiver: the id that \(text) shows"] : [])
    }

    /// The problem of answers to ``questions(of:)`` that make no sink.
    static func problem(ofParts text: String) -> String {
        text == "email"
            ? "The mail server \(MailURL.problem("") ?? "")" : "The address must be a URL, such as https://example.org."
    }

    /// - Parameter parts: The answers to ``questions(of:)``.
    init?(_ text: String, parts: [String]) {
        self.init("\(text):" + parts.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }.joined(separator: "/"))
    }

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
            guard let (url, topic) = Self.split(target) else { return nil }
            self = .ntfy(url: url, topic: topic)
        case "email":
            guard let (url, address) = Self.split(target) else { return nil }
            self = .email(url: url, address: address)
        case let word:
            guard let service = ChatService(rawValue: word), !target.isEmpty else { return nil }
            switch (service.standardURL == nil, service.needsRoom) {
            case (true, true):
                guard let (url, room) = Self.split(target) else { return nil }
                self = .chat(service, url: url, room: room)
            case (true, false): self = .chat(service, url: target, room: nil)
            case (false, _): self = .chat(service, url: nil, room: target)
            }
        }
    }

    /// The URL before the last slash, and what follows it; `nil` for any other text.
    private static func split(_ text: String) -> (url: String, rest: String)? {
        guard let slash = text.lastIndex(of: "/"), text[..<slash].contains("://"), !text[..<slash].hasSuffix("/"),
            text.index(after: slash) < text.endIndex
        else { return nil }
        return (String(text[..<slash]), String(text[text.index(after: slash)...]))
    }

    /// The text that ``init(_:relativeTo:)`` reads; the name alone of a chat whose address is a secret, for which `init` asks.
    var text: String {
        switch self {
        case .log, .feed: name
        case .file(let path): "file:\(path)"
        case .webhook(let url): "webhook:\(url)"
        case .ntfy(let url, let topic): "ntfy:\(url)/\(topic)"
        case .email(let url, let address): "email:\(url)/\(address)"
        case .chat(let service, _, _) where service.hasSecretURL: service.rawValue
        case .chat(_, let url, let room): "\(name):" + [url, room].compactMap(\.self).joined(separator: "/")
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
        case .email(let url, let address):
            MailURL.problem(url).map { "The mail server \($0)" }
                ?? MailAddress.problem(of: address).map { "Your address \($0)" }
        case .chat(let service, let url, let room):
            url.flatMap { ValueRules.url($0, allowsQuery: true) ?? ChatAddress.problem(of: $0, for: service) }
                .map { "The address of \(service.rawValue) \($0)" }
                ?? room.flatMap { ValueRules.room($0) ?? ChatAddress.problem(ofRoom: $0, for: service) }
                .map { "The receiver \($0)" }
        case .command(let program):
            program.contains("/") && !FileManager.default.isExecutableFile(atPath: program)
                ? "There is no program \(program) that can run; correct the path." : nil
        }
    }

    var kind: String { if case .chat = self { "webhook" } else { name } }

    /// The name of the sink: its kind, or the service of a chat.
    var name: String {
        switch self {
        case .log: "log"
        case .feed: "feed"
        case .file: "file"
        case .webhook: "webhook"
        case .ntfy: "ntfy"
        case .email: "email"
        case .chat(let service, _, _): service.rawValue
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
        case .email(let url, let address):
            ["url", "from", "to"].map { ($0, ConfigurationPrinter.scalar($0 == "url" ? url : address)) }
        case .chat(let service, let url, let room):
            [("format", service.rawValue)]
                + (urlFile.map { [("url_file", $0.name)] } ?? url.map { [("url", ConfigurationPrinter.scalar($0))] }
                    ?? [])
                + (room.map { [("room", ConfigurationPrinter.scalar($0))] } ?? [])
        case .command(let program): [("argv", ConfigurationPrinter.list([program]))]
        }
    }

    /// The setting of the sink's secret with the name of its copy; `nil` for a sink without one.
    var secret: (setting: String, name: String)? {
        switch self {
        case .webhook: ("secret_file", "hook.secret")
        case .ntfy: ("token_file", "ntfy.token")
        case .email: ("password_file", "mail.password")
        case .chat(let service, _, _): service.needsToken ? ("token_file", "\(service.rawValue).token") : nil
        case .log, .feed, .file, .command: nil
        }
    }

    /// Whether the sink cannot do without its secret.
    var needsSecret: Bool { if case .chat = self { secret != nil } else { false } }

    /// The user whose secret it is: the settings beside that of the secret.
    var user: (key: String, value: String)? {
        guard case .email(_, let address) = self else { return nil }
        let mailbox = (try? MailAddress(parsing: address))?.mailbox ?? address
        return ("username", ConfigurationPrinter.scalar(mailbox))
    }

    /// The file of an address that is a secret; `nil` for a sink without one.
    var urlFile: (name: String, content: String)? {
        guard case .chat(let service, let url?, _) = self, service.hasSecretURL else { return nil }
        return ("\(service.rawValue).url", url + "\n")
    }
}
