import Starwatch
import StarwatchCore

/// A page of kept notifications for feed readers, as Atom (RFC 4287) or JSON Feed 1.1.
///
/// Entries never change, so the newest one and the position of the page are its ETag.
struct FeedDocument: Sendable {
    enum Format: String, CaseIterable {
        case atom, json

        var path: String { "/feed.\(rawValue)" }

        var contentType: String {
            switch self {
            case .atom: "application/atom+xml; charset=utf-8"
            case .json: "application/feed+json; charset=utf-8"
            }
        }
    }

    /// The number of notifications in a page; the link `next` leads to the older ones.
    static let pageLength = 50

    let format: Format
    /// The newest first, with one more than the page has if there is an older one.
    let entries: [FeedEntry]
    /// The sequence below which the page begins; `nil` for the first page.
    let before: Int64?
    /// The server's address as the reader wrote it, such as `https://agent.example.org:9465`.
    let origin: String

    var shown: ArraySlice<FeedEntry> { entries.prefix(Self.pageLength) }

    /// The address of this feed.
    var address: String { origin + format.path }

    /// The address of the next page (RFC 5005); `nil` for the last one.
    var next: String? {
        guard entries.count > Self.pageLength, let last = shown.last else { return nil }
        return "\(address)?before=\(last.sequence)"
    }

    /// The address of the page for people.
    var page: String { origin + "/feed" }

    /// The ETag.
    var tag: String {
        let (newest, oldest) = (shown.first?.sequence ?? 0, shown.last?.sequence ?? 0)
        return "\"\(newest)-\(oldest)\(next == nil ? "" : "+")\""
    }

    var text: String {
        switch format {
        case .atom: AtomText(document: self).text
        case .json: JSONFeedText(document: self).text
        }
    }

    /// The id of an entry, the same in both formats and for ever: the 128 bits of the notification's id.
    static func id(of entry: FeedEntry) -> String {
        let digits = Array(entry.notification.id.drop { $0 != "_" }.dropFirst())
        guard digits.count == 32, digits.allSatisfy(\.isHexDigit) else {
            return "urn:starwatch:\(entry.notification.id)"
        }
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
        return "urn:uuid:" + parts.joined(separator: "-").lowercased()
    }

    /// Content of an entry, as on the page.
    static func content(of entry: FeedEntry) -> HTML {
        "<p>\(entry.notification.body)</p>\(NotificationNames(entry.notification).html)"
    }

    /// The place of an entry on the page for people.
    func link(to entry: FeedEntry) -> String { "\(page)#n\(entry.sequence)" }
}
