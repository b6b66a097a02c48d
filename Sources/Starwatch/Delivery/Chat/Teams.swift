import StarwatchCore

extension SinkFormat {
    /// An adaptive card, which the webhook of a workflow takes; up to 28 KB. Its rich text has no Markdown.
    public static let teams = SinkFormat(chat: "teams") {
        $0.path = "/workflows/"
        $0.limits = { _ in .url }
        $0.message { message, _ in
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
                "$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard",
                "version": "1.4",
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
            return ServiceRequest(["type": "message", "attachments": [attachment]])
        }
    }
}
