/// The changes of a notification for people, in its language: the names of several, and what changed.
package struct NotificationNames: Sendable, Hashable {
    /// One of several changes.
    package struct Link: Sendable, Hashable {
        /// The name, which can turn no text around it, and is never blank: a link needs a text.
        package let name: String
        /// The address of the project or the item, which a browser opens; `nil` if there is none.
        package let address: String?
        /// Text of what changed, such as `Changed: description, end time`; `nil` if no earlier state is known.
        package let change: String?

        package init(name: String, address: String?, change: String? = nil) {
            (self.name, self.address, self.change) = (name, address, change)
        }

        /// - Parameters:
        ///   - style: The looks of the link, where no style sheet says them.
        ///   - changeStyle: Those of what changed.
        ///   - itemStyle: Those of the item with both.
        package func html(style: String? = nil, changeStyle: String? = nil, itemStyle: String? = nil) -> HTML {
            func looks(_ style: String?) -> HTML { style.map { " style=\"\($0)\"" } ?? "" }
            let name: HTML = address.map { "<a\(looks(style)) href=\"\($0)\">\(self.name)</a>" } ?? "\(self.name)"
            let change: HTML = change.map { " <small\(looks(changeStyle))>\($0)</small>" } ?? ""
            return "<li\(looks(itemStyle))>\(name)\(change)</li>"
        }
    }

    /// All changes of several. The body already names a single one.
    package let links: [Link]
    /// Text of what changed, for a single change; `nil` if no earlier state is known.
    package let change: String?
    /// The words of a link to the changes, as on the button of the notification.
    package let linkWords: String

    /// - Parameter catalogues: The words beside the notification's own.
    package init(_ message: NotificationMessage, catalogues: MessageCatalogues) {
        let messages = catalogues.messages(for: LocaleTag(message.locale) ?? .english)
        let views: [NotificationAction] = [.viewProject, .viewUpdates]
        linkWords =
            views.lazy.compactMap { message.actionLabels?[$0.rawValue] }.first
            ?? messages.text(NotificationNames.address(of: message) == nil ? .actionViewUpdates : .actionViewProject)
        guard message.count > 1 else {
            (links, change) = ([], message.changes.first.flatMap { Self.changed($0, messages) })
            return
        }
        change = nil
        links = message.changes.map { item in
            Link(
                name: Self.shown(item.name) ?? messages.text(.unnamedProject),
                address: NotificationNames.address(of: item),
                change: Self.changed(item, messages)
            )
        }
    }

    private static func shown(_ name: String?) -> String? {
        name.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : BidiText.isolated($0) }
    }

    /// The first names that fit into a limit with what tells the number of the others, and that number.
    ///
    /// - Parameters:
    ///   - size: The size of a name, in units of the limit.
    ///   - rest: The size of what tells a number of others.
    package func fitting(
        _ limit: Int,
        size: (Link) -> Int,
        rest: (Int) -> Int
    ) -> (shown: [Link], others: Int) {
        var (total, shown) = (0, 0)
        for (index, link) in links.enumerated() {
            total += size(link)
            guard total <= limit else { break }
            let others = links.count - index - 1
            if others == 0 || total + rest(others) <= limit { shown = index + 1 }
        }
        return (Array(links.prefix(shown)), links.count - shown)
    }

    /// A list of the names, or what changed of a single one.
    package var html: HTML {
        if let change { return "<p><small>\(change)</small></p>" }
        return links.isEmpty ? "" : "<ul>\(links.map { $0.html() })</ul>"
    }

    /// Says what changed; `nil` if no earlier state is known.
    private static func changed(_ item: NotificationMessage.Item, _ messages: Messages) -> String? {
        if item.edited == true { return messages.text(.changeEdited) }
        guard let fields = item.fields else { return nil }
        let order = PlanDetails.Field.allCases.map(\.rawValue)
        let names = fields.keys.sorted {
            (order.firstIndex(of: $0) ?? order.count, $0) < (order.firstIndex(of: $1) ?? order.count, $1)
        }
        guard !names.isEmpty else { return messages.text(.changeNone) }
        let words = names.compactMap { MessageKey(rawValue: "notifications.field.\($0)") }.map { messages.text($0) }
        return messages.text(.changeFields, [.fields: .text(words.joined(separator: messages.text(.changeComma)))])
    }
}

/// The links of a notification that a browser opens.
extension NotificationNames {
    /// The address of the only project or item; `nil` if it has none.
    package static func address(of message: NotificationMessage) -> String? {
        message.count == 1 ? message.changes.first.flatMap { address(of: $0) } : nil
    }

    fileprivate static func address(of item: NotificationMessage.Item) -> String? {
        if let link = item.link { return address(ofLink: link) }
        return address(ofPlan: item.plan)
    }

    /// The address that the link of a list's item is; `nil` for any other link. It needs no escape in any format, except for `&`
    /// in HTML: percent-encoding takes the place of all that can be markup.
    package static func address(ofLink link: String) -> String? {
        let form = /(https?:\/\/([a-z0-9.\-]+)(?::([0-9]{1,5}))?)((?:[\/?#].*)?)/.ignoresCase()
        guard let (_, origin, host, port, rest) = link.wholeMatch(of: form)?.output, isPlace(host, port) else {
            return nil
        }
        var (address, hasFragment) = (Array(origin.utf8), false)
        let bytes = Array(rest.utf8)
        for (index, byte) in bytes.enumerated() {
            let isKept =
                switch byte {
                case UInt8(ascii: "#"): !hasFragment
                case UInt8(ascii: "%"):
                    bytes.count > index + 2
                        && bytes[index + 1...index + 2].allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
                default: byte.isAlphanumeric || "/?=&+,:@$-._~".utf8.contains(byte)
                }
            if byte == UInt8(ascii: "#") { hasFragment = true }
            if isKept { address.append(byte) } else { PercentEncoding.appendEscape(of: byte, to: &address) }
        }
        return address.count <= 1000 ? String(decoding: address, as: UTF8.self) : nil
    }

    /// The address that the id of a project is; `nil` for any other id. It needs no escape in any format.
    ///
    /// Others choose the ids. A chat can refuse a whole notification for an address in it that is none, as Discord does without
    /// a domain.
    package static func address(ofPlan plan: String) -> String? {
        let form = /https:\/\/([A-Za-z0-9.\-]+)(?::([0-9]{1,5}))?\/(?:[A-Za-z0-9\/._~\-]|%[0-9A-Fa-f]{2})*/
        guard plan.utf8.count <= 1000, let (_, host, port) = plan.wholeMatch(of: form)?.output, isPlace(host, port)
        else { return nil }
        return plan
    }

    private static func isPlace(_ host: Substring, _ port: Substring?) -> Bool {
        isDomain(host) && port.map { (1...65_535).contains(Int($0) ?? 0) } ?? true
    }

    /// Whether a host is a name of several parts, of which the last is no number (RFC 1123, section 2.1).
    private static func isDomain(_ host: Substring) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let areGood = parts.allSatisfy { part in
            (1...63).contains(part.utf8.count) && part.first != "-" && part.last != "-"
        }
        return areGood && parts.count > 1 && host.utf8.count <= 253 && parts.last?.first?.isLetter == true
            && (parts.last?.utf8.count ?? 0) > 1
    }
}
