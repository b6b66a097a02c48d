/// Text in the markup of a service, within its limit.
///
/// Limits count UTF-16 units: no service counts a text as longer than that. Scalars are escaped one by one: a markup sign with a
/// combining mark is one character, and no service reads it as that.
struct ChatText: Sendable {
    /// Returns a scalar as the service must get it, to be shown as it is.
    let escape: @Sendable (Unicode.Scalar) -> String

    /// Keeps a sign from being one of a mention, a link or a tag, and is seen by nobody.
    private static let zeroWidthSpace = "\u{200B}"

    /// Text without markup.
    static let plain = ChatText { String(Character($0)) }

    /// HTML, as Matrix and Telegram read it. A zero-width space keeps `@name` and `#tag` from being a mention.
    static let html = ChatText { scalar in
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\"": "&quot;"
        case "@", "#": "\(scalar)\(Self.zeroWidthSpace)"
        default: String(Character(scalar))
        }
    }

    /// The name as a link in HTML. Addresses have no other sign of HTML than `&`.
    static func anchor(_ name: String, _ address: String?) -> String {
        address.map { "<a href=\"\($0.replacing("&", with: "&amp;"))\">\(name)</a>" } ?? name
    }

    /// Text of Slack outside of blocks. Slack reads three entities only, and has no escape for its other signs.
    static let slack = ChatText { scalar in
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "@", "#", "*", "_", "~", "`", ":": "\(scalar)\(Self.zeroWidthSpace)"
        default: String(Character(scalar))
        }
    }

    /// Markdown of Discord, in which a backslash escapes every sign. A zero-width space keeps `@all` and `<@1>` from being a
    /// mention.
    static let discord = ChatText { scalar in
        switch scalar {
        case "\\", "*", "_", "~", "`", "|", ">", "<", "[", "]", "(", ")", "#", "+", "-", "!", ":": "\\\(scalar)"
        case "@": "@\(Self.zeroWidthSpace)"
        default: String(Character(scalar))
        }
    }

    /// Markdown of Mattermost. It shows a backslash before any sign but a few, finds the end of a link's text without regard to
    /// backslashes, and makes a link of `<a|b>` before it reads anything else. It leaves entities to the browser.
    static let mattermost = ChatText { scalar in
        switch scalar {
        case "&": "&amp;"
        case "<": "&lt;"
        case ">": "&gt;"
        case "\\", "[", "]", "|": "&#\(scalar.value);"
        case "*", "_", "~", "`", "+", "-": "\\\(scalar)"
        case "@", "#", ":": "\(scalar)\(Self.zeroWidthSpace)"
        default: String(Character(scalar))
        }
    }

    /// Escapes and cuts `text`.
    func callAsFunction(_ text: String, limit: Int) -> String {
        text.cut(to: limit, by: { $0.utf16.count }, escape: { $0.unicodeScalars.map(escape).joined() })
    }
}
