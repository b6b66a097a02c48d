import Starwatch
import StarwatchCore
import StarwatchPolling

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
            "<id>\(Self.escaped(document.address))</id>", "<title>Starwatch</title>",
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
            <title>\(Self.escaped(message.title))</title>
            <published>\(message.createdAt)</published>
            <updated>\(message.createdAt)</updated>
            <category term="\(Self.escaped(message.poll))"/>
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
