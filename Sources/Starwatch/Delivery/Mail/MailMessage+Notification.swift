import StarwatchCore

/// A notification as a mail: subject and text, and a card as on the page of notifications.
struct NotificationMail {
    private let notification: OutgoingNotification
    private let message: NotificationMessage?
    private let names: NotificationNames?

    private static let linkStyle = "color:#2457a6"
    /// An item of two lines stands apart from the next one.
    private static let itemStyle = "margin:0 0 8px"
    private static let changeStyle = "font-size:13px;color:#5b626a"

    /// - Parameter catalogues: The words beside the notification's own.
    init(_ notification: OutgoingNotification, catalogues: MessageCatalogues) {
        self.notification = notification
        message = NotificationMessage(json: notification.payload)
        names = message.map { NotificationNames($0, catalogues: catalogues) }
    }

    /// - Parameters:
    ///   - to: The receivers. Each sees the others.
    ///   - dueSince: The time since which the sink is due: the end of the hours, if they held it from the start. Mail programs
    ///     sort by the date, and filters of spam doubt one of half a day ago.
    func message(from: MailAddress, to: [MailAddress], dueSince: Timestamp?) -> MailMessage {
        let date = message.flatMap { Timestamp(iso8601: $0.createdAt) } ?? Timestamp(milliseconds: 0)
        var mail = MailMessage(from: from, to: to, date: max(date, dueSince ?? date))
        mail.subject = message.map { NotificationPolls($0).headline } ?? notification.title
        (mail.text, mail.html) = (text, html.text)
        mail.language = message?.locale ?? "en"
        mail.id = notification.id
        // The poll's thread, whose first mail is nowhere, and the notification that this one repeats.
        mail.references =
            ["starwatch." + (message.map { NotificationPolls($0).thread } ?? notification.poll)]
            + [message?.repeats].compactMap(\.self)
        return mail
    }

    /// The address to open, with its words; `nil` for a notification without a project or list to view.
    private var link: (address: String, words: String)? {
        guard let message, let names, !message.changes.isEmpty else { return nil }
        return (NotificationNames.address(of: message) ?? message.deepLink, names.linkWords)
    }

    private var text: String {
        var parts = [notification.body]
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
    private var html: HTML {
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
        let polls = message.map { NotificationPolls($0).names.joined(separator: ", ") } ?? notification.poll
        let list: HTML =
            items.isEmpty ? "" : "<ul style=\"margin:12px 0 0;padding:0 0 0 20px\">\(items)</ul>"
        return """
            <!DOCTYPE html>
            <html lang="\(message?.locale ?? "en")">
            <head><meta charset="utf-8"><meta name="viewport" content="width=device-width"></head>
            <body style="margin:0;padding:16px;background:#f6f5f1;color:#1d2126;\
            font-family:sans-serif;line-height:1.5">
            <div style="max-width:40em;margin:0 auto;padding:16px 18px;border:1px solid #e4e2da;border-radius:12px;\
            background:#fff;overflow-wrap:anywhere">
            <p style="margin:0 0 8px"><span style="padding:2px 8px;border:1px solid #e4e2da;border-radius:99px;font-size:13px;\
            color:#5b626a">\(polls)</span></p>
            <h2 style="margin:0 0 6px;font-size:18px">\(notification.title)</h2>
            <p style="margin:0;white-space:pre-line">\(notification.body)</p>
            \(change)
            \(list)
            \(link)
            </div></body></html>

            """
    }
}
