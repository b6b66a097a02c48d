import Crypto
import FoundationEssentials
import Starwatch
import StarwatchCore
import StarwatchTransport

/// A page of kept notifications for feed readers, as Atom (RFC 4287) or JSON Feed 1.1.
///
/// Links in Atom are relative to its own address, because only a proxy knows the name and the path under which it serves the
/// feed. JSON Feed has no rule for relative addresses.
struct FeedDocument: Sendable {
    enum Format: String, CaseIterable {
        case atom, json

        /// The last part of the path.
        var name: String { "feed.\(rawValue)" }

        var path: String { "/" + name }

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
    /// Whether people can open the page beside the feed as the reader opens the feed.
    let hasPage: Bool
    /// The address of the feed's folder as the reader uses it, with a slash at its end. Only JSON Feed needs it.
    var folder = ""
    /// The 128 bits of the feed's id, as hexadecimal digits; empty if they are not known.
    var bits = ""
    /// The words beside those of the notifications.
    var catalogues = MessageCatalogues.builtIn

    var shown: ArraySlice<FeedEntry> { entries.prefix(Self.pageLength) }

    /// The address of the page for people; `nil` if they cannot open it.
    var page: String? { hasPage ? "feed" : nil }

    /// The id of this feed. It is the same under every name of the server, and outlives a token.
    var id: String { Self.name(ofBits: bits) ?? "urn:starwatch:feed" }

    /// The address of the next page (RFC 5005); `nil` for the last one.
    var next: String? {
        guard entries.count > Self.pageLength, let last = shown.last else { return nil }
        return address(before: last.sequence)
    }

    /// The address of a page of this feed.
    func address(before: Int64?) -> String { format.name + (before.map { "?before=\($0)" } ?? "") }

    /// The time of the newest entry. The last one can be older than those before it, if the hours of the sink held it.
    var updated: String { shown.map(\.notification.createdAt).max() ?? "1970-01-01T00:00:00Z" }

    var text: String {
        switch format {
        case .atom: atom
        case .json: json
        }
    }

    /// The ETag of a text. Entries never change, but a release or a catalogue can write them otherwise.
    static func tag(of text: [UInt8]) -> String { "\"\(Hex.encode(SHA256.hash(data: text).prefix(16)))\"" }

    /// The id of an entry, the same in both formats and for ever: the 128 bits of the notification's id.
    static func id(of entry: FeedEntry) -> String {
        let id = entry.notification.id
        return name(ofBits: String(id.drop { $0 != "_" }.dropFirst())) ?? "urn:starwatch:\(id)"
    }

    /// The name of 128 bits in hexadecimal digits; `nil` for any other text.
    private static func name(ofBits text: String) -> String? {
        let digits = Array(text)
        guard digits.count == 32, digits.allSatisfy(\.isHexDigit) else { return nil }
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
        return "urn:uuid:" + parts.joined(separator: "-").lowercased()
    }

    /// Content of an entry, as on the page, with a link for readers that show the content alone.
    func content(of entry: FeedEntry) -> HTML {
        let message = entry.notification
        let names = NotificationNames(message, catalogues: catalogues)
        let link: HTML =
            NotificationNames.address(of: message).map { "<p><a href=\"\($0)\">\(names.linkWords)</a></p>" } ?? ""
        let lines: [HTML] = message.body.split(separator: "\n").map { "<p>\(String($0))</p>" }
        return "\(lines)\(names.html)\(link)"
    }
}

extension FeedDocument {
    /// The feed as Atom (RFC 4287), with links to its pages (RFC 5005).
    private var atom: String {
        let links =
            [("self", address(before: before))] + (before == nil ? [] : [("first", address(before: nil))])
            + (next.map { [("next", $0)] } ?? [])
        var lines = [
            #"<?xml version="1.0" encoding="utf-8"?>"#, #"<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">"#,
            "<id>\(Self.escaped(id))</id>", "<title>Starwatch</title>", "<updated>\(updated)</updated>",
            "<author><name>Starwatch</name></author>",
            "<generator version=\"\(AgentVersion.current)\">Starwatch</generator>",
        ]
        lines += page.map { Self.alternate($0) } ?? []
        lines += links.map { rel, address in
            "<link rel=\"\(rel)\" type=\"application/atom+xml\" href=\"\(Self.escaped(address))\"/>"
        }
        lines += shown.map(atomEntry)
        return (lines + ["</feed>", ""]).joined(separator: "\n")
    }

    private func atomEntry(_ entry: FeedEntry) -> String {
        let message = entry.notification
        let links = NotificationNames.address(of: message).map { Self.alternate($0) } ?? []
        let head = """
            <entry xml:lang="\(Self.escaped(message.locale))">
            <id>\(Self.id(of: entry))</id>
            <title>\(Self.escaped(NotificationPolls(message).headline))</title>
            <published>\(message.createdAt)</published>
            <updated>\(message.createdAt)</updated>
            \(NotificationPolls(message).names.map { "<category term=\"\(Self.escaped($0))\"/>" }.joined())
            """
        let text = """
            <summary>\(Self.escaped(message.body))</summary>
            <content type="html">\(Self.escaped(content(of: entry).text))</content>
            </entry>
            """
        return ([head] + links + [text]).joined(separator: "\n")
    }

    /// The link to a page for people.
    private static func alternate(_ address: String) -> [String] {
        ["<link rel=\"alternate\" type=\"text/html\" href=\"\(escaped(address))\"/>"]
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
