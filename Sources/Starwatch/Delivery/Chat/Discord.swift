import StarwatchCore

extension SinkFormat {
    /// An embed in Markdown.
    public static let discord = SinkFormat(chat: "discord") {
        $0.path = "/api/webhooks/"
        // A limit of the whole machine is global, or comes from what stands before the service, as a page.
        $0.limits = { $0?["global"] == .flag(false) ? .url : nil }
        // The channel is a forum, whose address needs the parameter thread_id.
        $0.refuses = { status, says in status == 400 && says("22000", "code") ? [.url] : nil }
        $0.message { message, _ in
            let text = message.text(.discord, limit: 4096) { name, address in
                "- " + (address.map { "[\(name)](\($0))" } ?? name)
            }
            let embed: JSONTree = [
                "title": .text(ChatText.discord(message.title, limit: 256)), "description": .text(text),
            ]
            let json: JSONTree = [
                "embeds": [embed.adding("url", message.webLink.map { .text($0) })], "allowed_mentions": ["parse": []],
            ]
            // Otherwise the answer comes before the message is saved, and says nothing of a failure.
            return ServiceRequest(json, parameter: ("wait", "true"))
        }
    }
}
