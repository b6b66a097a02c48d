import Hummingbird
import Starwatch
import StarwatchCore

/// A request, as routes see it.
struct Call: Sendable {
    var method: String
    /// The path's parts, percent-decoded.
    var path: [String]
    /// The path's arguments, the query and the body.
    var request = ControlRequest()
    /// The headers. A repeated one is read as its values joined with a comma.
    var headers: HTTPFields
    /// The `Host` header, or the host of an absolute target.
    var host: String?
    /// Whether the server's connection has TLS.
    var isEncrypted = false
    /// The sender, for the journal.
    var caller = Operator.program

    /// The address of the path's folder as the client wrote it, with a slash at its end. A proxy can name the scheme, and the
    /// path that it removes. Nobody but the client that sends these headers gets the address.
    var folder: String {
        let scheme = isEncrypted || headers[.forwardedProtocol]?.lowercased() == "https" ? "https" : "http"
        let removed = headers[.forwardedPrefix]?.split(separator: "/").map { "/" + $0 } ?? []
        let parts = path.dropLast().map { "/" + PercentEncoding.encode($0) }
        return "\(scheme)://\(host ?? "localhost")\((removed + parts).joined())/"
    }

    /// Whether a browser opens the pages of this server too: it can send a password, but no token, and the private address is one
    /// of the feed alone.
    var canBrowse: Bool {
        feedToken == nil && headers[.authorization]?.lowercased().hasPrefix("bearer ") != true
    }

    /// The token in the private address of the feed; `nil` for another path.
    var feedToken: String? {
        guard path.count == 3, path[0] == "feed",
            FeedDocument.Format.allCases.contains(where: { $0.path == "/" + path[2] })
        else { return nil }
        return path[1]
    }

    /// The sender, with the one of many accounts that the request names. The private address of a feed names it alone.
    func callerOfAccount() throws(ControlError) -> Operator {
        var caller = caller
        guard caller.account == nil, let name = headers[.account] else { return caller }
        guard let account = DID(name) else {
            throw ControlError(.invalid, "The header \(ControlAPI.accountHeader) must be a DID.")
        }
        caller.account = account
        return caller
    }

    /// `nil` if a percent escape is malformed or is not UTF-8.
    init?(method: String, target: String, headers: HTTPFields = [:], host: String? = nil) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, first.hasPrefix("/") else { return nil }
        (self.method, self.headers, self.host) = (method, headers, host)
        path = []
        for part in first.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let decoded = PercentEncoding.decode(part) else { return nil }
            path.append(decoded)
        }
        guard parts.count == 2 else { return }
        for pair in parts[1].split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(sides[0], plusIsSpace: true),
                let value = PercentEncoding.decode(sides.count == 2 ? sides[1] : "", plusIsSpace: true)
            else { return nil }
            request.query.append((name, value))
        }
    }
}

extension HTTPFields.Element.Name {
    static let host = Self("Host")!
    static let account = Self(ControlAPI.accountHeader)!
    static let fetchMode = Self("Sec-Fetch-Mode")!
    static let fetchSite = Self("Sec-Fetch-Site")!
    static let forwardedPrefix = Self("X-Forwarded-Prefix")!
    static let forwardedProtocol = Self("X-Forwarded-Proto")!
    static let lastEventID = Self("Last-Event-ID")!
    static let scrapeTimeout = Self("X-Prometheus-Scrape-Timeout-Seconds")!
}
