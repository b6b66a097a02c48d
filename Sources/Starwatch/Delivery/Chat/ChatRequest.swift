import StarwatchCore
import StarwatchTransport

/// A notification as a service wants it.
///
/// The fields and limits are those of the services' documentation of 2026. Each service gets the text so that it shows it as
/// it is: names of projects are others' text, and must not become markup, links or mentions.
struct ChatRequest {
    var method = HTTPRequest.Method.post
    /// Path that is appended to the address.
    var path = ""
    /// A parameter of the address's query.
    var parameter: (name: String, value: String)?
    /// The header with the token, unless the token is in the path or the body.
    var headers: [(name: String, value: String)] = []
    var body: [UInt8]

    /// - Parameters:
    ///   - room: ``ChatOptions/room``.
    ///   - topic: ``ChatOptions/topic``.
    ///   - token: The token of the service; empty if it has none.
    ///   - catalogues: The texts beside the notification's own.
    init(
        _ notification: OutgoingNotification,
        for service: ChatService,
        room: String,
        topic: Int? = nil,
        token: String,
        catalogues: MessageCatalogues
    ) {
        let message = ChatMessage(notification, catalogues: catalogues)
        switch service {
        case .slack: self.init(Self.slack(message))
        case .discord:
            self.init(Self.discord(message))
            // Otherwise the answer comes before the message is saved, and says nothing of a failure.
            parameter = ("wait", "true")
        case .mattermost: self.init(Self.mattermost(message))
        case .teams: self.init(Self.teams(message))
        case .apprise: self.init(Self.apprise(message))
        case .matrix:
            self.init(Self.matrix(message))
            method = .put
            // A server shows a message once, however often it gets this id.
            let parts = [room, notification.id].map(PercentEncoding.encode)
            path = "/_matrix/client/v3/rooms/\(parts[0])/send/m.room.message/\(parts[1])"
            headers = [("Authorization", "Bearer " + token)]
        case .telegram:
            self.init(Self.telegram(message, chat: room, topic: topic))
            // The colon of a token is as in the service's documentation.
            path = "/bot\(PercentEncoding.encode(token).replacing("%3A", with: ":"))/sendMessage"
        case .gotify:
            self.init(Self.gotify(message))
            path = "/message"
            headers = [("X-Gotify-Key", token)]
        case .pushover:
            self.init(Self.pushover(message, user: room, token: token))
            path = "/1/messages.json"
        }
    }

    private init(_ json: JSONTree) { body = StableJSON.bytes(of: json) }

    /// Block Kit: a header, a text without markup, and links in rich text, which has no markup either.
    private static func slack(_ message: ChatMessage) -> JSONTree {
        func plain(_ text: String, _ limit: Int) -> JSONTree {
            ["type": "plain_text", "text": .text(ChatText.plain(text, limit: limit)), "emoji": false]
        }
        func section(_ name: String, _ address: String? = nil) -> JSONTree {
            let text: JSONTree = ["type": address == nil ? "text" : "link", "text": .text(name)]
            return ["type": "rich_text_section", "elements": [text.adding("url", address.map { .text($0) })]]
        }
        let body = ChatText.plain(message.body, limit: 3000)
        var blocks: [JSONTree] = [
            ["type": "header", "text": plain(message.title, 150)], ["type": "section", "text": plain(body, 3000)],
        ]
        let (names, more) = message.names(within: 3000 - body.utf16.count) {
            message.name(of: $0).utf16.count + ($0.address?.utf16.count ?? 0)
        }
        var items = names.map { section(message.name(of: $0), $0.address) }
        if let more { items.append(section(more)) }
        if !items.isEmpty {
            let list: JSONTree = ["type": "rich_text_list", "style": "bullet", "elements": .list(items)]
            blocks.append(["type": "rich_text", "elements": [list]])
        }
        if let link = message.webLink {
            blocks.append(["type": "rich_text", "elements": [section(ChatText.plain(message.label, limit: 200), link)]])
        }
        // For what cannot show blocks, such as the notification of a telephone.
        return [
            "text": .text(ChatText.slack(message.title, limit: 150)), "mrkdwn": false, "blocks": .list(blocks),
            "unfurl_links": false,
        ]
    }

    private static func discord(_ message: ChatMessage) -> JSONTree {
        let text = message.text(.discord, limit: 4096) { name, address in
            "- " + (address.map { "[\(name)](\($0))" } ?? name)
        }
        let embed: JSONTree = [
            "title": .text(ChatText.discord(message.title, limit: 256)), "description": .text(text),
        ]
        return ["embeds": [embed.adding("url", message.webLink.map { .text($0) })], "allowed_mentions": ["parse": []]]
    }

    private static func mattermost(_ message: ChatMessage) -> JSONTree {
        let text = message.text(.mattermost, limit: 12_000) { name, address in
            "• " + (address.map { "[\(name)](\($0))" } ?? name)
        }
        var lines = ["**\(ChatText.mattermost(message.title, limit: 500))**", text]
        if let link = message.webLink { lines.append("[\(ChatText.mattermost(message.label, limit: 200))](\(link))") }
        return ["text": .text(lines.joined(separator: "\n\n"))]
    }

    /// A push rule of every account silences `m.notice` (`.m.rule.suppress_notices`), so that is for what can wait. Without
    /// `m.mentions` an `@room` or a user's name in the text would be a mention.
    private static func matrix(_ message: ChatMessage) -> JSONTree {
        let title = ChatText.plain(message.title, limit: 500)
        let text = message.text(.plain, limit: 6000) { name, _ in "• " + name }
        return [
            "msgtype": message.isLow ? "m.notice" : "m.text", "body": .text("\(title)\n\(text)"),
            "format": "org.matrix.custom.html", "formatted_body": .text(matrixHTML(message)), "m.mentions": [:],
        ]
    }

    /// An event has 65,536 bytes at most, and a unit has three.
    private static func matrixHTML(_ message: ChatMessage) -> String {
        let title = ChatText.html(ChatText.plain(message.title, limit: 500), limit: 2000)
        let body = ChatText.html(ChatText.plain(message.body, limit: 6000), limit: 8000)
        func item(_ name: String, _ address: String?) -> String {
            "<li>\(anchor(ChatText.html(name, limit: 400), address))</li>"
        }
        let (names, more) = message.names(within: 8000 - body.utf16.count) { item($0.name, $0.address).utf16.count }
        var items = names.map { item($0.name, $0.address) }
        if let more { items.append(item(more, nil)) }
        var html = "<strong>\(title)</strong><br>\(body.replacing("\n", with: "<br>"))"
        if !items.isEmpty { html += "<ul>\(items.joined())</ul>" }
        if let link = message.webLink { html += "<br>" + anchor(ChatText.html(message.label, limit: 200), link) }
        return html
    }

    /// The name as a link in HTML. An address of a project needs no escape.
    private static func anchor(_ name: String, _ address: String?) -> String {
        address.map { "<a href=\"\($0)\">\(name)</a>" } ?? name
    }

    /// A message has 4,096 characters at most, without its tags.
    private static func telegram(_ message: ChatMessage, chat: String, topic: Int?) -> JSONTree {
        var text = message.text(.html, limit: 3000) { name, address in "• " + anchor(name, address) }
        text = "<b>\(ChatText.html(message.title, limit: 500))</b>\n\(text)"
        if let link = message.webLink, link.utf16.count <= 300 {
            text += "\n" + anchor(ChatText.html(message.label, limit: 200), link)
        }
        let json: JSONTree = [
            "chat_id": .text(chat), "text": .text(text), "parse_mode": "HTML",
            "link_preview_options": ["is_disabled": true], "disable_notification": .flag(message.isLow),
        ]
        return json.adding("message_thread_id", topic.map { .number(Int64($0)) })
    }

    /// An adaptive card, which the webhook of a workflow takes; up to 28 KB. Its rich text has no Markdown.
    private static func teams(_ message: ChatMessage) -> JSONTree {
        func block(_ text: String, weight: String? = nil, address: String? = nil) -> JSONTree {
            let run: JSONTree = ["type": "TextRun", "text": .text(text)]
            let action = address.map { url -> JSONTree in ["type": "Action.OpenUrl", "url": .text(url)] }
            let styled = run.adding("weight", weight.map { .text($0) }).adding("selectAction", action)
            return ["type": "RichTextBlock", "inlines": [styled]]
        }
        let body = ChatText.plain(message.body, limit: 6000)
        let (names, more) = message.names(within: 22_000 - body.utf8.count) {
            StableJSON.bytes(of: block("• " + message.name(of: $0), address: $0.address)).count + 1
        }
        let title = block(ChatText.plain(message.title, limit: 500), weight: "Bolder")
        var blocks = [title, block(body)]
        blocks += names.map { block("• " + message.name(of: $0), address: $0.address) }
        if let more { blocks.append(block(more)) }
        let card: JSONTree = [
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
            "body": .list(blocks),
        ]
        let actions = message.webLink.map { link in
            JSONTree.list([
                [
                    "type": "Action.OpenUrl", "title": .text(ChatText.plain(message.label, limit: 200)),
                    "url": .text(link),
                ]
            ])
        }
        let attachment: JSONTree = [
            "contentType": "application/vnd.microsoft.card.adaptive", "content": card.adding("actions", actions),
        ]
        return ["type": "message", "attachments": [attachment]]
    }

    private static func gotify(_ message: ChatMessage) -> JSONTree {
        let text = message.text(.plain, limit: 12_000) { name, _ in "• " + name }
        let json: JSONTree = [
            "title": .text(ChatText.plain(message.title, limit: 500)), "message": .text(text),
            "priority": message.isLow ? 2 : 5,
        ]
        return json.adding("extras", message.link.map { ["client::notification": ["click": ["url": .text($0)]]] })
    }

    private static func pushover(_ message: ChatMessage, user: String, token: String) -> JSONTree {
        let text = message.text(.plain, limit: 1024) { name, _ in "• " + name }
        let json: JSONTree = [
            "token": .text(token), "user": .text(user), "title": .text(ChatText.plain(message.title, limit: 250)),
            "message": .text(text), "priority": message.isLow ? -1 : 0,
        ]
        guard let link = message.link, link.utf16.count <= 512 else { return json }
        return json.adding("url", .text(link)).adding("url_title", .text(ChatText.plain(message.label, limit: 100)))
    }

    /// A server that passes it on to other services, so the links are part of the text, as in a mail.
    private static func apprise(_ message: ChatMessage) -> JSONTree {
        var text = message.text(.plain, limit: 12_000) { name, address in
            "- " + name + (address.map { ": \($0)" } ?? "")
        }
        if let link = message.webLink ?? (message.hasChanges ? message.link : nil), link.utf16.count <= 2000 {
            text += "\n\n\(message.label): \(link)"
        }
        return [
            "title": .text(ChatText.plain(message.title, limit: 500)), "body": .text(text), "type": "info",
            "format": "text",
        ]
    }
}

extension JSONTree {
    /// The object with a further member; the same one if `value` is `nil`.
    fileprivate func adding(_ name: String, _ value: JSONTree?) -> JSONTree {
        guard case .object(var members) = self, let value else { return self }
        members[name] = value
        return .object(members)
    }
}
