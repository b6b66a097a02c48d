import StarwatchCore
import StarwatchTransport

extension SinkFormat {
    /// A push rule of every account silences `m.notice` (`.m.rule.suppress_notices`), so that is for what can wait. Without
    /// `m.mentions` an `@room` or a user's name in the text would be a mention.
    public static let matrix = SinkFormat(chat: "matrix") {
        ($0.needsRoom, $0.needsToken) = (true, true)
        $0.roomProblem = { room in
            room.hasPrefix("!")
                ? nil : "must be the id of the room, which starts with !; an alias such as #room:example.org is none."
        }
        $0.refuses = { status, says in status == 404 && says("M_NOT_FOUND", "errcode") ? [.room] : nil }
        $0.message { message, to in
            let title = ChatText.plain(message.title, limit: 500)
            let text = message.text(.plain, limit: 6000) { name, _ in "• " + name }
            let json: JSONTree = [
                "msgtype": message.isLow ? "m.notice" : "m.text", "body": .text("\(title)\n\(text)"),
                "format": "org.matrix.custom.html", "formatted_body": .text(message.html), "m.mentions": [:],
            ]
            // A server shows a message once, however often it gets this id.
            let parts = [to.room, message.id].map(PercentEncoding.encode)
            return ServiceRequest(
                json,
                method: .put,
                path: "/_matrix/client/v3/rooms/\(parts[0])/send/m.room.message/\(parts[1])",
                headers: [("Authorization", "Bearer " + to.token)]
            )
        }
    }
}

extension ChatMessage {
    /// An event has 65,536 bytes at most, and a unit has three.
    fileprivate var html: String {
        let title = ChatText.html(ChatText.plain(self.title, limit: 500), limit: 2000)
        let body = ChatText.html(ChatText.plain(self.body, limit: 6000), limit: 8000)
        func item(_ name: String, _ address: String?) -> String {
            "<li>\(ChatText.anchor(ChatText.html(name, limit: 400), address))</li>"
        }
        let (names, more) = self.names(within: 8000 - body.utf16.count) { item($0.name, $0.address).utf16.count }
        var items = names.map { item($0.name, $0.address) }
        if let more { items.append(item(more, nil)) }
        var html = "<strong>\(title)</strong><br>\(body.replacing("\n", with: "<br>"))"
        if !items.isEmpty { html += "<ul>\(items.joined())</ul>" }
        if let link = webLink {
            html += "<br>" + ChatText.anchor(ChatText.html(label, limit: 200), link)
        }
        return html
    }
}
