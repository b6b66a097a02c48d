import FoundationEssentials

/// A request for a page of a list.
package struct ListRequest: Sendable, Hashable {
    /// The URL with all parameters.
    package let url: String
    /// The number of the page in its walk, from 1.
    package let page: Int

    package init(url: String, page: Int) { (self.url, self.page) = (url, page) }

    /// - Parameter parameters: Names and values, before percent-encoding.
    init(_ base: String, _ parameters: [String: String], page: Int) {
        let pairs = parameters.sorted { $0.key < $1.key }.map {
            PercentEncoding.encode($0.key) + "=" + PercentEncoding.encode($0.value)
        }
        self.init(url: pairs.isEmpty ? base : base + "?" + pairs.joined(separator: "&"), page: page)
    }
}

/// URLs in the answers of a list's server.
enum ListURL {
    /// The longest URL that is used.
    private static let longest = 2048

    /// A URL of an answer, resolved against that of its request (RFC 3986).
    ///
    /// - Returns: `nil` for one that is no `http` or `https` URL, has credentials or control characters, or is too long.
    static func resolved(_ text: String, against base: String) -> String? {
        guard (1...longest).contains(text.utf8.count), text.utf8.allSatisfy({ $0 > 32 && $0 != 127 }),
            let url = URL(string: text, relativeTo: URL(string: base))?.absoluteURL, origin(of: url) != nil,
            url.user == nil, url.password == nil, url.absoluteString.utf8.count <= longest
        else { return nil }
        return url.absoluteString
    }

    static func haveSameOrigin(_ one: String, _ other: String) -> Bool {
        guard let one = origin(of: one) else { return false }
        return one == origin(of: other)
    }

    /// Scheme, host and port of a URL, without the usual port; `nil` for one that is no `http` or `https` URL.
    static func origin(of text: String) -> String? {
        URL(string: text).flatMap(origin).map { parts in
            let isUsual = parts[2] == (parts[0] == "https" ? "443" : "80")
            return "\(parts[0])://\(parts[1])" + (isUsual ? "" : ":\(parts[2])")
        }
    }

    private static func origin(of url: URL) -> [String]? {
        guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let host = url.host?.lowercased(), !host.isEmpty
        else { return nil }
        return [scheme, host, "\(url.port ?? (scheme == "https" ? 443 : 80))"]
    }
}
