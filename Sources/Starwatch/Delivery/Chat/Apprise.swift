import StarwatchCore

extension SinkFormat {
    /// A server that passes it on to other services, so the links are part of the text, as in a mail.
    public static let apprise = SinkFormat(chat: "apprise") {
        $0.path = "/notify/"
        $0.refuses = { status, _ in status == 204 ? [.url] : nil }
        $0.refusal = { [usual = $0.refusal] status, refused in
            status == 204
                ? "The Apprise server has no service under the key (HTTP 204); correct url, or save one there."
                : usual(status, refused)
        }
        $0.message { message, _ in
            var text = message.text(.plain, limit: 12_000) { name, address in
                "- " + name + (address.map { ": \($0)" } ?? "")
            }
            if let link = message.webLink ?? (message.hasChanges ? message.link : nil), link.utf16.count <= 2000 {
                text += "\n\n\(message.label): \(link)"
            }
            return ServiceRequest([
                "title": .text(ChatText.plain(message.title, limit: 500)), "body": .text(text), "type": "info",
                "format": "text",
            ])
        }
    }
}
