import Starwatch
import StarwatchCore

/// A sink as the file writes it: flat, with the settings of every kind and their defaults.
struct SinkDraft {
    enum Kind: String, CaseIterable { case stdout, log, feed, file, webhook, ntfy, email, command }

    var name = ""
    var kind: Kind?
    var keep = 100
    var path = ""
    var topic: String?
    var url: String?
    var argv: [String] = []
    var format: ChatService?
    var room: String?
    var chatTopic: Int?
    var secretFile: String?
    var urlFile: String?
    var tokenFile: String?
    var from = ""
    var to: [String] = []
    var username: String?
    var passwordFile: String?
    var caFile: String?
    var proxy: String?
    var proxyLoginFile: String?
    var timeout = Duration.seconds(10)
    var isRequired = true
    var giveUpAfter: Duration?
    var quietHours: QuietHours?
    var deliverAt: [DayTime]?
    var timezone: String?
    var takesCanaries = false
    var includesAccount = false
    var body: BodyFile?

    init() {}

    init(_ sink: SinkOptions) {
        (name, isRequired, giveUpAfter) = (sink.name, sink.isRequired, sink.giveUpAfter)
        (caFile, proxy, takesCanaries) = (sink.caFile, sink.proxy, sink.takesCanaries)
        proxyLoginFile = sink.proxyLoginFile
        body = sink.bodyFile.map { BodyFile(path: $0, template: sink.body) }
        (includesAccount, timezone, urlFile) = (sink.includesAccount, sink.timezone, sink.urlFile)
        switch sink.hours {
        case .quiet(let hours): quietHours = hours
        case .deliverAt(let times): deliverAt = times
        case nil: break
        }
        switch sink.kind {
        case .stdout: kind = .stdout
        case .log: kind = .log
        case .feed(let keep): (kind, self.keep) = (.feed, keep)
        case .file(let path): (kind, self.path) = (.file, path)
        case .webhook(let url, let secretFile, let timeout):
            (kind, self.url, self.secretFile, self.timeout) = (.webhook, url.given, secretFile, timeout)
        case .chat(let chat):
            (kind, format, room, tokenFile, timeout) = (.webhook, chat.service, chat.room, chat.tokenFile, chat.timeout)
            chatTopic = chat.topic
            switch chat.address {
            case .url(let url): self.url = url
            case .file(let path): urlFile = path
            case .standard: url = chat.service.standardURL
            }
        case .ntfy(let url, let topic, let tokenFile):
            (kind, self.url, self.topic, self.tokenFile) = (.ntfy, url.given, topic.given, tokenFile)
        case .email(let mail):
            (kind, url, from, to) = (.email, mail.url, mail.from, mail.to)
            (username, passwordFile) = (mail.username, mail.passwordFile)
        case .command(let argv, let timeout): (kind, self.argv, self.timeout) = (.command, argv, timeout)
        }
    }

    /// `nil` without a kind.
    var options: SinkOptions? {
        let kind: SinkOptions.Kind
        switch self.kind {
        case nil: return nil
        case .stdout: kind = .stdout
        case .log: kind = .log
        case .feed: kind = .feed(keep: keep)
        case .file: kind = .file(path: path)
        case .webhook:
            kind = chat.map { .chat($0) } ?? .webhook(url: url ?? "", secretFile: secretFile, timeout: timeout)
        case .ntfy: kind = .ntfy(url: url ?? "", topic: topic ?? "", tokenFile: tokenFile)
        case .email: kind = .email(email)
        case .command: kind = .command(argv: argv, timeout: timeout)
        }
        var options = SinkOptions(name: name, kind: kind)
        (options.isRequired, options.giveUpAfter) = (isRequired, giveUpAfter)
        (options.caFile, options.proxy, options.takesCanaries) = (caFile, proxy, takesCanaries)
        options.proxyLoginFile = proxyLoginFile
        (options.body, options.bodyFile) = (body?.template, body?.path)
        (options.includesAccount, options.timezone) = (includesAccount, timezone)
        // A chat has its file among its own options.
        if format == nil { options.urlFile = urlFile }
        options.hours = quietHours.map { .quiet($0) } ?? deliverAt.map { .deliverAt($0) }
        return options
    }

    private var email: EmailOptions {
        var email = EmailOptions(url: url ?? "", from: from, to: to)
        (email.username, email.passwordFile) = (username, passwordFile)
        return email
    }

    /// The settings of a webhook in the format of a chat's service; `nil` without a format.
    private var chat: ChatOptions? {
        guard let format else { return nil }
        var chat = ChatOptions(format)
        (chat.room, chat.topic, chat.tokenFile, chat.timeout) = (room, chatTopic, tokenFile, timeout)
        if let urlFile {
            chat.address = .file(urlFile)
        } else if let url, url != format.standardURL {
            chat.address = .url(url)
        }
        return chat
    }

    /// The examples of `config default`, each below a comment.
    static var examples: [(comment: String, sink: SinkDraft)] {
        func draft(_ name: String, _ kind: Kind, url: String? = nil) -> SinkDraft {
            var draft = SinkDraft()
            (draft.name, draft.kind, draft.url) = (name, kind, url)
            (draft.path, draft.topic, draft.argv) = (
                "./notifications.jsonl", "my-topic", ["/usr/local/bin/notify", "--quiet"]
            )
            if kind == .webhook { draft.secretFile = "hook.secret" } else { draft.tokenFile = "ntfy.token" }
            return draft
        }
        var room = draft("room", .webhook)
        (room.format, room.url, room.urlFile) = (.slack, nil, "slack.url")
        room.secretFile = nil
        var mail = draft("mail", .email, url: "smtps://mail.example.org")
        (mail.from, mail.to) = ("Starwatch <agent@example.org>", ["me@example.org"])
        (mail.username, mail.passwordFile) = ("agent@example.org", "mail.password")
        return [
            ("Title and body on standard output, for a person:", draft("terminal", .stdout)),
            ("The latest notifications, for the control API's /feed:", draft("feed", .feed)),
            ("JSON lines appended to a file:", draft("journal", .file)),
            ("Standard Webhooks, signed with secret_file:", draft("hook", .webhook, url: "https://example.org/hook")),
            ("A room of a chat, or push messages, in the format of the service:", room),
            ("A topic of an ntfy server:", draft("phone", .ntfy, url: "https://ntfy.sh")),
            ("Mails, by way of a mail server:", mail),
            ("A program that reads the notification as JSON from standard input:", draft("script", .command)),
        ]
    }
}

extension String {
    /// The text of a setting; `nil` if each account brings it.
    fileprivate var given: String? { isEmpty ? nil : self }
}
