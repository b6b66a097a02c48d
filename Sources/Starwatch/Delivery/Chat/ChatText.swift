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
