import StarwatchCore

extension SinkFormat {
    /// One text in Markdown.
    public static let mattermost = SinkFormat(chat: "mattermost") {
        $0.path = "/hooks/"
        $0.refuses = { $0 == 400 && $1("web.incoming_webhook.invalid", "id") ? [.url] : nil }
        $0.message { message, _ in
            let text = message.text(.mattermost, limit: 12_000) { name, address in
                "• " + (address.map { "[\(name)](\($0))" } ?? name)
            }
            var lines = ["**\(ChatText.mattermost(message.title, limit: 500))**", text]
            if let link = message.webLink {
                lines.append("[\(ChatText.mattermost(message.label, limit: 200))](\(link))")
            }
            return ServiceRequest(["text": .text(lines.joined(separator: "\n\n"))])
        }
    }
}
