import Starwatch
import StarwatchCore
import StarwatchPolling

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
    /// The part of the path with the token, such as `/feed/TOKEN`; empty for a reader that logs in.
    var folder = ""

    var shown: ArraySlice<FeedEntry> { entries.prefix(Self.pageLength) }

    /// The address of this feed.
    var address: String { origin + folder + format.path }

    /// The name of this feed, which outlives a token.
    var id: String { origin + format.path }

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

    /// Title of an entry. Readers list titles alone, and the notifications of a poll all have the same one: a change is told
    /// apart by the text.
    static func title(of entry: FeedEntry) -> String {
        let message = entry.notification
        return message.changes.isEmpty ? message.title : message.body.replacing("\n", with: "; ")
    }

    /// Content of an entry, as on the page.
    static func content(of entry: FeedEntry) -> HTML {
        let lines: [HTML] = entry.notification.body.split(separator: "\n").map { "<p>\(String($0))</p>" }
        return "\(lines)\(NotificationNames(entry.notification).html)"
    }

    /// The place of an entry on the page for people.
    func link(to entry: FeedEntry) -> String { "\(page)#n\(entry.sequence)" }
}

/// A feed as Atom (RFC 4287), with links to its pages (RFC 5005).
struct AtomText {
    let document: FeedDocument

    var text: String {
        let links =
            [("self", document.before.map { "\(document.address)?before=\($0)" } ?? document.address)]
            + (document.before == nil ? [] : [("first", document.address)])
            + (document.next.map { [("next", $0)] } ?? [])
        var lines = [
            #"<?xml version="1.0" encoding="utf-8"?>"#, #"<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">"#,
            "<id>\(Self.escaped(document.id))</id>", "<title>Starwatch</title>",
            "<updated>\(document.shown.first?.notification.createdAt ?? "1970-01-01T00:00:00Z")</updated>",
            "<author><name>Starwatch</name></author>",
            "<generator version=\"\(AgentVersion.current)\">Starwatch</generator>",
            "<link rel=\"alternate\" type=\"text/html\" href=\"\(Self.escaped(document.page))\"/>",
        ]
        lines += links.map { rel, address in
            "<link rel=\"\(rel)\" type=\"application/atom+xml\" href=\"\(Self.escaped(address))\"/>"
        }
        lines += document.shown.map(entry)
        return (lines + ["</feed>", ""]).joined(separator: "\n")
    }

    private func entry(_ entry: FeedEntry) -> String {
        let message = entry.notification
        return """
            <entry xml:lang="\(Self.escaped(message.locale))">
            <id>\(FeedDocument.id(of: entry))</id>
            <title>\(Self.escaped(FeedDocument.title(of: entry)))</title>
            <published>\(message.createdAt)</published>
            <updated>\(message.createdAt)</updated>
            \(NotificationPolls(message).names.map { "<category term=\"\(Self.escaped($0))\"/>" }.joined())
            <link rel="alternate" type="text/html" href="\(Self.escaped(document.link(to: entry)))"/>
            <summary>\(Self.escaped(message.body))</summary>
            <content type="html">\(Self.escaped(FeedDocument.content(of: entry).text))</content>
            </entry>
            """
    }

    /// Escapes a text, without the characters that XML cannot have (XML 1.0, section 2.2).
    private static func escaped(_ text: String) -> String {
        var known = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x9, 0xA, 0xD, 0x20...0xFFFD, 0x10000...: known.append(scalar)
            default: break
            }
        }
        return ("\(String(known))" as HTML).text
    }
}
