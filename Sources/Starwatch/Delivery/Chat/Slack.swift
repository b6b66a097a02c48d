import StarwatchCore

extension SinkFormat {
    /// Block Kit: a header, a text without markup, and links in rich text, which has no markup either.
    public static let slack = SinkFormat(chat: "slack") {
        $0.path = "/services/"
        $0.limits = { _ in .url }
        $0.message { message, _ in
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
                blocks.append([
                    "type": "rich_text", "elements": [section(ChatText.plain(message.label, limit: 200), link)],
                ])
            }
            // The text is for what cannot show blocks, such as the notification of a telephone.
            return ServiceRequest(
                [
                    "text": .text(ChatText.slack(message.title, limit: 150)), "mrkdwn": false, "blocks": .list(blocks),
                    "unfurl_links": false,
                ]
            )
        }
    }
}
