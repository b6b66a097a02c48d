import StarwatchCore

extension SinkFormat {
    /// A push message.
    public static let pushover = SinkFormat(chat: "pushover") {
        $0.standardURL = "https://api.pushover.net"
        ($0.needsRoom, $0.needsToken) = (true, true)
        $0.refuses = { status, says in
            guard status == 400 else { return nil }
            return says("invalid", "token") ? [.secret] : says("invalid", "user") ? [.room] : nil
        }
        $0.message { message, to in
            let text = message.text(.plain, limit: 1024) { name, _ in "• " + name }
            var json: JSONTree = [
                "token": .text(to.token), "user": .text(to.room),
                "title": .text(ChatText.plain(message.title, limit: 250)),
                "message": .text(text), "priority": message.isLow ? -1 : 0,
            ]
            if let link = message.link, link.utf16.count <= 512 {
                json = json.adding("url", .text(link)).adding(
                    "url_title",
                    .text(ChatText.plain(message.label, limit: 100))
                )
            }
            return ServiceRequest(json, path: "/1/messages.json")
        }
    }
}
