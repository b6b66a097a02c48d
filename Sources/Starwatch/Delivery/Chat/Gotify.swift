import StarwatchCore

extension SinkFormat {
    /// A push message of the server's own app.
    public static let gotify = SinkFormat(chat: "gotify") {
        $0.needsToken = true
        $0.message { message, to in
            let text = message.text(.plain, limit: 12_000) { name, _ in "• " + name }
            let json: JSONTree = [
                "title": .text(ChatText.plain(message.title, limit: 500)), "message": .text(text),
                "priority": message.isLow ? 2 : 5,
            ]
            let click = message.link.map { JSONTree.object(["client::notification": ["click": ["url": .text($0)]]]) }
            return ServiceRequest(json.adding("extras", click), path: "/message", headers: [("X-Gotify-Key", to.token)])
        }
    }
}
