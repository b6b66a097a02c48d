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
    /// The header with the token, unless the token is in the path or the body.
    var headers: [(name: String, value: String)] = []
    var body: [UInt8]

    /// - Parameters:
    ///   - room: ``ChatOptions/room``.
    ///   - token: The token of the service; empty if it has none.
    init(_ notification: OutgoingNotification, for service: ChatService, room: String, token: String) {
        let message = ChatMessage(notification)
        switch service {
        case .slack: self.init(Self.slack(message))
        case .discord: self.init(Self.discord(message))
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
            self.init(Self.telegram(message, chat: room))
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

    /// Block Kit: a header and a text without markup.
    private static func slack(_ message: ChatMessage) -> JSONTree {
        func plain(_ text: String, _ limit: Int) -> JSONTree {
            ["type": "plain_text", "text": .text(ChatText.plain(text, limit: limit)), "emoji": false]
        }
        var blocks: [JSONTree] = [
            ["type": "header", "text": plain(message.title, 150)],
            ["type": "section", "text": plain(message.body, 3000)],
        ]
        if let link = message.webLink {
            let text = "<\(ChatText.html(link, limit: 2000))|Open>"
            blocks.append(["type": "section", "text": ["type": "mrkdwn", "text": .text(text)]])
        }
        // For what cannot show blocks, such as the notification of a telephone.
        return [
            "text": .text(ChatText.html(message.title, limit: 150)), "blocks": .list(blocks), "unfurl_links": false,
        ]
    }

    private static func discord(_ message: ChatMessage) -> JSONTree {
        let embed: JSONTree = [
            "title": .text(ChatText.markdown(message.title, limit: 256)),
            "description": .text(ChatText.markdown(message.body, limit: 4096)),
        ]
        return ["embeds": [embed.adding("url", message.webLink.map { .text($0) })], "allowed_mentions": ["parse": []]]
    }

    private static func mattermost(_ message: ChatMessage) -> JSONTree {
        var lines = [
            "**\(ChatText.markdown(message.title, limit: 500))**", ChatText.markdown(message.body, limit: 12_000),
        ]
        if let link = message.webLink { lines.append("[Open](<\(link)>)") }
        return ["text": .text(lines.joined(separator: "\n\n"))]
    }

    private static func matrix(_ message: ChatMessage) -> JSONTree {
        let (title, body) = (ChatText.plain(message.title, limit: 500), ChatText.plain(message.body, limit: 6000))
        // An event has 65,536 bytes at most, and a unit has three.
        var html = "<strong>\(ChatText.html(title, limit: 2000))</strong><br>\(ChatText.html(body, limit: 8000))"
        if let link = message.webLink { html += "<br><a href=\"\(ChatText.html(link, limit: 4000))\">Open</a>" }
        return [
            "msgtype": "m.notice", "body": .text("\(title)\n\(body)"), "format": "org.matrix.custom.html",
            "formatted_body": .text(html.replacing("\n", with: "<br>")),
        ]
    }

    private static func telegram(_ message: ChatMessage, chat: String) -> JSONTree {
        var text = "<b>\(ChatText.html(message.title, limit: 500))</b>\n\(ChatText.html(message.body, limit: 3000))"
        if let link = message.webLink, link.utf16.count <= 500 {
            text += "\n<a href=\"\(ChatText.html(link, limit: 500))\">Open</a>"
        }
        return [
            "chat_id": .text(chat), "text": .text(text), "parse_mode": "HTML",
            "link_preview_options": ["is_disabled": true], "disable_notification": .flag(message.isLow),
        ]
    }

    /// An adaptive card, which the webhook of a workflow takes; up to 28 KB.
    private static func teams(_ message: ChatMessage) -> JSONTree {
        func block(_ text: String, _ limit: Int) -> JSONTree {
            ["type": "TextBlock", "text": .text(ChatText.markdown(text, limit: limit)), "wrap": true]
        }
        let card: JSONTree = [
            "$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
            "body": [block(message.title, 500).adding("weight", "Bolder"), block(message.body, 6000)],
        ]
        let actions = message.webLink.map { link in
            JSONTree.list([["type": "Action.OpenUrl", "title": "Open", "url": .text(link)]])
        }
        let attachment: JSONTree = [
            "contentType": "application/vnd.microsoft.card.adaptive", "content": card.adding("actions", actions),
        ]
        return ["type": "message", "attachments": [attachment]]
    }

    private static func gotify(_ message: ChatMessage) -> JSONTree {
        let json: JSONTree = [
            "title": .text(ChatText.plain(message.title, limit: 500)),
            "message": .text(ChatText.plain(message.body, limit: 12_000)), "priority": message.isLow ? 2 : 5,
        ]
        return json.adding("extras", message.link.map { ["client::notification": ["click": ["url": .text($0)]]] })
    }

    private static func pushover(_ message: ChatMessage, user: String, token: String) -> JSONTree {
        let json: JSONTree = [
            "token": .text(token), "user": .text(user), "title": .text(ChatText.plain(message.title, limit: 250)),
            "message": .text(ChatText.plain(message.body, limit: 1024)), "priority": message.isLow ? -1 : 0,
        ]
        guard let link = message.link, link.utf16.count <= 512 else { return json }
        return json.adding("url", .text(link)).adding("url_title", "Open")
    }

    private static func apprise(_ message: ChatMessage) -> JSONTree {
        [
            "title": .text(ChatText.plain(message.title, limit: 500)),
            "body": .text(ChatText.plain(message.body, limit: 12_000)), "type": "info", "format": "text",
        ]
    }
}

/// Text and links of a notification.
private struct ChatMessage {
    let title: String
    let body: String
    /// The link into the app; `nil` if there is none.
    let link: String?
    /// The link that a browser opens: the address of the only project, if it has one.
    let webLink: String?
    let isLow: Bool

    init(_ notification: OutgoingNotification) {
        (title, body) = (notification.title, notification.body)
        let message = NotificationMessage(json: notification.payload)
        link = message?.deepLink
        isLow = message?.priority == "low"
        webLink = message.flatMap(ProjectLink.address)
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

/// Text in the markup of a service, within its limit.
///
/// Limits count UTF-16 units: no service counts a text as longer than that.
struct ChatText: Sendable {
    /// Returns a character as the service must get it, to be shown as it is.
    let escape: @Sendable (Character) -> String

    /// Text without markup.
    static let plain = ChatText { String($0) }

    /// HTML, as Matrix and Telegram read it. Slack reads the same three entities. A zero-width space keeps `@name` and `#tag` from
    /// being a mention.
    static let html = ChatText { character in
        switch character {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": "&quot;"
        case "@", "#": "\(character)\u{200B}"
        default: String(character)
        }
    }

    /// Markdown, as Discord, Mattermost and Teams read it. A zero-width space keeps `@all` and `<@1>` from being a mention.
    static let markdown = ChatText { character in
        switch character {
        case "\\", "*", "_", "~", "`", "|", ">", "<", "[", "]", "(", ")", "#", "+", "-", "!", ":": "\\\(character)"
        case "@": "@\u{200B}"
        default: String(character)
        }
    }

    /// Escapes and cuts `text`.
    func callAsFunction(_ text: String, limit: Int) -> String {
        text.cut(to: limit, by: { $0.utf16.count }, escape: escape)
    }
}
