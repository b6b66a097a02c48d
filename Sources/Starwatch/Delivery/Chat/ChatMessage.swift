import StarwatchCore

/// Text, names and links of a notification for a chat.
struct ChatMessage {
    typealias Link = NotificationNames.Link

    let id: String
    /// Neither is blank: services refuse such a text.
    let title: String
    let body: String
    /// The link into the app; `nil` if there is none.
    let link: String?
    /// The link that a browser opens: the address of the only project, if it has one.
    let webLink: String?
    /// The words of either link, as on the button of the notification.
    let label: String
    let hasChanges: Bool
    let isLow: Bool
    private let list: NotificationNames?
    private let messages: Messages

    /// Maximum length of a name in a list.
    private static let nameLimit = 200

    /// - Parameter catalogues: The texts beside the notification's own.
    init(_ notification: OutgoingNotification, catalogues: MessageCatalogues) {
        let texts: [String?] = [notification.title, notification.body].map { text in
            text.allSatisfy(\.isWhitespace) ? nil : text
        }
        let title = texts[0] ?? texts[1] ?? "Starwatch"
        (id, self.title, body) = (notification.id, title, texts[1] ?? title)
        let message = NotificationMessage(json: notification.payload)
        let messages = catalogues.messages(for: message.flatMap { LocaleTag($0.locale) } ?? .english)
        let address = message.flatMap { NotificationNames.address(of: $0) }
        link = message?.deepLink
        hasChanges = message?.changes.isEmpty == false
        isLow = message?.priority == "low"
        list = message.map { NotificationNames($0, catalogues: catalogues) }
        label = list?.linkWords ?? messages.text(.actionViewUpdates)
        (webLink, self.messages) = (address, messages)
    }

    /// The names of several changes that fit into a limit, whole, and the words for the number of the others.
    ///
    /// - Parameters:
    ///   - limit: In units of `size`.
    ///   - size: The size of the line of a name; that of the others has no link.
    func names(within limit: Int, size: (Link) -> Int) -> (shown: [Link], more: String?) {
        guard let list else { return ([], nil) }
        let (shown, others) = list.fitting(limit, size: size) { size(Link(name: more($0), address: nil)) }
        return (shown, shown.isEmpty || others == 0 ? nil : more(others))
    }

    /// The body, and below it the names, each in a line, within a limit in UTF-16 units.
    ///
    /// - Parameter line: The form of an escaped name with its address.
    func text(
        _ form: ChatText,
        limit: Int,
        line: (_ name: String, _ address: String?) -> String
    ) -> String {
        let text = form(body, limit: limit)
        func whole(_ link: Link) -> String { "\n" + line(form(link.name, limit: Self.nameLimit), link.address) }
        let (shown, more) = names(within: limit - text.utf16.count) { whole($0).utf16.count }
        return text + shown.map { whole($0) }.joined() + (more.map { "\n" + form($0, limit: Self.nameLimit) } ?? "")
    }

    /// The name of a link without markup.
    func name(of link: Link) -> String { ChatText.plain(link.name, limit: Self.nameLimit) }

    private func more(_ others: Int) -> String { messages.text(.moreNames, [.count: .number(others)]) }
}
