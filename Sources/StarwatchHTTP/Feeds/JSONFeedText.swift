import Starwatch
import StarwatchCore

/// A feed as JSON Feed 1.1 (jsonfeed.org).
struct JSONFeedText {
    let document: FeedDocument

    var text: String {
        StableJSON.text(
            of: Feed(
                version: "https://jsonfeed.org/version/1.1",
                title: "Starwatch",
                home_page_url: document.page.map { document.folder + $0 },
                feed_url: document.folder + document.address(before: nil),
                next_url: document.next.map { document.folder + $0 },
                items: document.shown.map { entry in
                    let message = entry.notification
                    return Item(
                        id: FeedDocument.id(of: entry),
                        url: ProjectLink.address(of: message),
                        title: NotificationPolls(message).headline,
                        content_html: document.content(of: entry).text,
                        summary: message.body,
                        date_published: message.createdAt,
                        language: message.locale,
                        tags: NotificationPolls(message).names
                    )
                }
            )
        )
    }

    // The names of the format.
    private struct Feed: Encodable {
        var version: String
        var title: String
        var home_page_url: String?
        var feed_url: String
        var next_url: String?
        var items: [Item]
    }

    private struct Item: Encodable {
        var id: String
        var url: String?
        var title: String
        var content_html: String
        var summary: String
        var date_published: String
        var language: String
        var tags: [String]
    }
}
