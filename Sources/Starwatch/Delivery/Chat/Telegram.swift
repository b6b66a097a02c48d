import StarwatchCore
import StarwatchTransport

extension SinkFormat {
    /// A message has 4,096 characters at most, without its tags.
    public static let telegram = SinkFormat(chat: "telegram") {
        $0.standardURL = "https://api.telegram.org"
        ($0.needsRoom, $0.needsToken, $0.hasTopics) = (true, true, true)
        // Descriptions: the group has no such topic, or it was closed.
        let lostTopics = ["message thread not found", "TOPIC_CLOSED", "TOPIC_DELETED"]
        // Descriptions: the chat is unknown or was closed, has another id as a supergroup, or takes no messages of the bot.
        // Which of the last ones comes depends on the kind of the chat.
        let lostRooms = [
            "chat not found", "PEER_ID_INVALID", "group chat was deactivated", "upgraded to a supergroup chat",
            "not enough rights to send", "have no rights to send", "have no write access to the chat",
            "need administrator rights in the channel", "CHAT_ADMIN_REQUIRED", "CHAT_RESTRICTED",
            "CHAT_WRITE_FORBIDDEN",
        ]
        $0.refuses = { status, says in
            // The token is in the path.
            if status == 404 { return [.secret] }
            guard status == 400 else { return nil }
            if lostTopics.contains(where: { says($0, "description") }) { return [.room, .topic] }
            return lostRooms.contains { says($0, "description") } ? [.room] : nil
        }
        $0.message { message, to in
            var text = message.text(.html, limit: 3000) { name, address in "• " + ChatText.anchor(name, address) }
            text = "<b>\(ChatText.html(message.title, limit: 500))</b>\n\(text)"
            if let link = message.webLink, link.utf16.count <= 300 {
                text += "\n" + ChatText.anchor(ChatText.html(message.label, limit: 200), link)
            }
            let json: JSONTree = [
                "chat_id": .text(to.room), "text": .text(text), "parse_mode": "HTML",
                "link_preview_options": ["is_disabled": true], "disable_notification": .flag(message.isLow),
            ]
            return ServiceRequest(
                json.adding("message_thread_id", to.topic.map { .number(Int64($0)) }),
                // The colon of a token is as in the service's documentation.
                path: "/bot\(PercentEncoding.encode(to.token).replacing("%3A", with: ":"))/sendMessage"
            )
        }
    }
}
