import Starwatch
import StarwatchCore

extension FeedDocument {
    /// The feed as JSON Feed 1.1 (jsonfeed.org).
    var json: String {
        var feed: [String: JSONTree] = [
            "version": "https://jsonfeed.org/version/1.1", "title": "Starwatch",
            "feed_url": .text(folder + address(before: nil)), "items": .list(shown.map(item)),
        ]
        feed["home_page_url"] = page.map { .text(folder + $0) }
        feed["next_url"] = next.map { .text(folder + $0) }
        return StableJSON.text(of: JSONTree.object(feed))
    }

    private func item(_ entry: FeedEntry) -> JSONTree {
        let (message, polls) = (entry.notification, NotificationPolls(entry.notification))
        var item: [String: JSONTree] = [
            "id": .text(Self.id(of: entry)), "title": .text(polls.headline),
            "content_html": .text(content(of: entry).text), "summary": .text(message.body),
            "date_published": .text(message.createdAt), "language": .text(message.locale),
            "tags": .list(polls.names.map(JSONTree.text)),
        ]
        item["url"] = NotificationNames.address(of: message).map(JSONTree.text)
        return .object(item)
    }
}
