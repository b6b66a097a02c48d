import StarwatchCore

extension MailMessage {
    private static let linkStyle = "color:#2457a6"
    /// An item of two lines stands apart from the next one.
    private static let itemStyle = "margin:0 0 8px"
    private static let changeStyle = "font-size:13px;color:#5b626a"

    /// A notification as a mail: subject and text, and a card as on the page of notifications.
    ///
    /// Its date is the end of the hours of a sink, if they held it from the start. Mail programs sort by the date, and filters of
    /// spam doubt one of half a day ago.
    ///
    /// - Parameters:
    ///   - to: The receivers. Each sees the others.
    ///   - catalogues: The words beside the notification's own.
    init(_ notification: OutgoingNotification, from: MailAddress, to: [MailAddress], catalogues: MessageCatalogues) {
        let message = NotificationMessage(json: notification.payload)
        let polls = message.map { NotificationPolls($0) }
        let names = message.map { NotificationNames($0, catalogues: catalogues) }
        // The address to open, with its words, of a notification with a project or list to view.
        var link: (address: String, words: String)?
        if let message, let names, !message.changes.isEmpty {
            link = (NotificationNames.address(of: message) ?? message.deepLink, names.linkWords)
        }
        let date = message.flatMap { Timestamp(iso8601: $0.createdAt) } ?? Timestamp(milliseconds: 0)
        self.init(from: from, to: to, date: max(date, notification.dueSince ?? date))
        subject = polls?.headline ?? notification.title
        language = message?.locale ?? "en"
        id = notification.id
        // The poll's thread, whose first mail is nowhere, and the notification that this one repeats.
        references = ["starwatch." + (polls?.thread ?? notification.poll)] + [message?.repeats].compactMap(\.self)
        text = Self.text(notification.body, names, link)
        html = card(notification, polls: polls?.names ?? [notification.poll], names, link).text
    }

    private static func text(
        _ body: String,
        _ names: NotificationNames?,
        _ link: (address: String, words: String)?
    ) -> String {
        var parts = [body]
        if let change = names?.change { parts.append(change) }
        let links = names?.links ?? []
        if !links.isEmpty {
            // An address of its own line is a link in every mail program.
            let items = links.map { link in
                (["- " + link.name] + [link.change, link.address].compactMap(\.self)).joined(separator: "\n  ")
            }
            parts.append(items.joined(separator: "\n"))
        }
        if let link { parts.append("\(link.words): \(link.address)") }
        return parts.joined(separator: "\n\n")
    }

    /// The card. Its looks are attributes, because mail programs remove style sheets.
    private func card(
        _ notification: OutgoingNotification,
        polls: [String],
        _ names: NotificationNames?,
        _ link: (address: String, words: String)?
    ) -> HTML {
        let link: HTML =
            link.map {
                "<p style=\"margin:16px 0 0\"><a style=\"\(Self.linkStyle)\" href=\"\($0.address)\">\($0.words)</a></p>"
            }
            ?? ""
        let change: HTML =
            names?.change.map { "<p style=\"margin:6px 0 0;\(Self.changeStyle)\">\($0)</p>" } ?? ""
        let items: [HTML] = (names?.links ?? []).map {
            // Together in one line, after the name or below it.
            $0.html(
                style: Self.linkStyle,
                changeStyle: "display:inline-block;\(Self.changeStyle)",
                itemStyle: Self.itemStyle
            )
        }
        let list: HTML =
            items.isEmpty ? "" : "<ul style=\"margin:12px 0 0;padding:0 0 0 20px\">\(items)</ul>"
        return """
            <!DOCTYPE html>
            <html lang="\(language)">
            <head><meta charset="utf-8"><meta name="viewport" content="width=device-width"></head>
            <body style="margin:0;padding:16px;background:#f6f5f1;color:#1d2126;\
            font-family:sans-serif;line-height:1.5">
            <div style="max-width:40em;margin:0 auto;padding:16px 18px;border:1px solid #e4e2da;border-radius:12px;\
            background:#fff;overflow-wrap:anywhere">
            <p style="margin:0 0 8px"><span style="padding:2px 8px;border:1px solid #e4e2da;border-radius:99px;font-size:13px;\
            color:#5b626a">\(polls.joined(separator: ", "))</span></p>
            <h2 style="margin:0 0 6px;font-size:18px">\(notification.title)</h2>
            <p style="margin:0;white-space:pre-line">\(notification.body)</p>
            \(change)
            \(list)
            \(link)
            </div></body></html>

            """
    }
}
