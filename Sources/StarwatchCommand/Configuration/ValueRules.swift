import Foundation
import Starwatch
import StarwatchCore
import StarwatchHTTP

/// The checks of single values. Each returns one sentence that says what is wrong, or `nil`.
enum ValueRules {
    /// Rejects what only a shell, a template or systemd replaces, and what is no path or URL of Linux.
    static func literal(_ text: String) -> String? {
        if text.contains("{{") || text.hasPrefix("<") || text.firstMatch(of: /%[a-zA-Z]\//) != nil {
            return "has a placeholder, which nothing replaces; write the value itself."
        }
        if text.hasPrefix("file:") { return "must be a path without file:, such as /var/lib/starwatch/starwatch.db." }
        if text.firstMatch(of: /^[A-Za-z]:\\|^\\\\/) != nil {
            return "is a path of Windows; write one such as /srv/file."
        }
        guard text.hasPrefix("~") || text.hasPrefix("$") || text.contains("${") else { return nil }
        return "is taken as it is, and neither ~ nor variables are replaced; write the value itself."
    }

    // MARK: Addresses

    /// Accepts https, or http to this machine only; no credentials, no fragment, no query unless allowed.
    static func url(_ text: String, allowsQuery: Bool = false) -> String? {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(), let host = parts.host,
            !host.isEmpty
        else {
            let isHost = text.wholeMatch(of: /[a-z0-9\-]{1,30}(\.[a-z0-9\-]{1,30}){1,4}(:\d+)?/) != nil
            return "must be a URL such as https://\(isHost ? text : "example.org")."
        }
        guard scheme == "https" || scheme == "http" else { return "must be a URL that starts with https://." }
        guard parts.user == nil, parts.password == nil else {
            return "must not contain a user or password; credentials belong in a file of their own."
        }
        if let port = parts.port, !(1...65_535).contains(port) { return "must have a port between 1 and 65535." }
        if scheme == "http", !ListenAddress.isLoopback(host) {
            return "must start with https://; http:// is allowed to this machine only (127.0.0.1, ::1, localhost)."
        }
        if !allowsQuery, parts.path.contains(/\/api\/v\d/) {
            return "must be the server's address without the path of its API, such as https://\(host)."
        }
        guard parts.fragment == nil, allowsQuery || parts.query == nil else {
            return "must end with its path; remove what follows \(parts.query == nil ? "#" : "?")."
        }
        return nil
    }

    /// Accepts `http`, `https` or `socks5h`, a host and a port, without credentials; or the word for the environment's.
    static func proxy(_ text: String) -> String? {
        if text == "environment" { return nil }
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            ["http", "https", "socks5h"].contains(scheme), parts.host?.isEmpty == false
        else { return "must be a URL such as http://proxy.internal:3128, or environment." }
        if parts.user != nil || parts.password != nil {
            return
                "must not contain a user or password; write user:password into a file, and name it as proxy_login_file."
        }
        guard let port = parts.port, (1...65_535).contains(port) else {
            return "must have a port, such as \(scheme)://\(parts.host ?? "host"):3128."
        }
        return ["", "/"].contains(parts.path) && parts.query == nil ? nil : "must end with its port."
    }

    /// Accepts a link for a person to any network, without credentials, because the page that shows it has no
    /// authentication.
    static func link(_ text: String) -> String? {
        guard let parts = URLComponents(string: text), ["http", "https"].contains(parts.scheme?.lowercased()),
            parts.host?.isEmpty == false
        else { return "must be a URL such as https://grafana.example.org/dashboards." }
        if parts.user != nil || parts.password != nil { return "must not contain a user or password." }
        guard [parts.query, parts.fragment].contains(where: { $0.map(hasCredential) == true }) else { return nil }
        return "must not contain a token, because everyone who opens the status page sees it; remove it after ? and #."
    }

    /// Returns whether a query or fragment has a parameter with the name of a credential, or a value that looks like one.
    static func hasCredential(_ text: String) -> Bool {
        let words = /token|secret|passw|api_?key|auth|jwt|signature|credential|session/
        let values = /eyJ[\w\-]+\.|[0-9A-Fa-f]{32}|[0-9A-Za-z]{20}/
        return text.split(whereSeparator: { "&?;/".contains($0) }).contains { parameter in
            let name = parameter.prefix { $0 != "=" }.lowercased().replacing("-", with: "_")
            if parameter.contains("="), name.contains(words) || ["key", "sig", "pwd"].contains(name) { return true }
            guard let match = parameter.firstMatch(of: values)?.output else { return false }
            // Names of dashboards and of variables can be long, but rarely mix all kinds of letters with digits.
            return match.hasPrefix("eyJ") || match.allSatisfy(\.isHexDigit) && match.count == 32
                || match.contains(where: \.isLowercase) && match.contains(where: \.isUppercase)
                    && match.contains(where: \.isNumber)
        }
    }

    /// Accepts a name as it is in `Host`, without the port.
    static func hostName(_ text: String) -> String? {
        text.wholeMatch(of: /[A-Za-z0-9_\-]+(\.[A-Za-z0-9_\-]+)*\.?/) == nil
            ? "must be names without a port, such as agent.internal." : nil
    }

    /// Accepts `host:port`, `[v6]:port`, or `:port` for every IPv4 address; port 0 takes a free one.
    static func listen(_ text: String) -> String? {
        ListenAddress(parsing: text) == nil ? "must be HOST:PORT, such as 127.0.0.1:9464 or [::1]:9464." : nil
    }

    static func ntpServer(_ text: String) -> String? {
        ListenAddress(timeServer: text) == nil ? "must be HOST or HOST:PORT, such as pool.ntp.org or [::1]:123." : nil
    }

    /// Accepts the value of a header that names this program. It is also part of a JSON text.
    static func headerValue(_ text: String) -> String? {
        let isPrintable = text.utf8.allSatisfy {
            (32...126).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
        guard isPrintable, (1...200).contains(text.utf8.count), text.first != " ", text.last != " " else {
            return "must be 1 to 200 printable ASCII characters without quotes and backslashes, such as Starwatch/1.0."
        }
        return nil
    }

    /// Accepts the scopes of a token (RFC 6749, section 3.3): words of printable ASCII with a space between two.
    static func scope(_ text: String) -> String? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let isGood = words.allSatisfy { word in
            !word.isEmpty
                && word.utf8.allSatisfy {
                    (33...126).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
                }
        }
        guard isGood, text.utf8.count <= 200 else {
            return "must be words of printable ASCII with one space between two, such as notifications:read."
        }
        return nil
    }

    // MARK: Names

    /// Accepts the name of a poll, digest or sink, which becomes a label value.
    static func name(_ text: String) -> String? {
        if text == "server" { return "must not be called server; that name belongs to the server's own metrics." }
        return PollName(text) != nil
            ? nil : "must have a name of lower-case letters, digits and _, starting with a letter, at most 63 long."
    }

    static func locale(_ text: String) -> String? {
        LocaleTag(text) == nil ? "must be a language such as en or en-GB." : nil
    }

    /// Accepts `sha256//` and 32 bytes in base64; several are joined with `;`.
    static func pinnedPublicKey(_ text: String) -> String? {
        let pins = text.split(separator: ";", omittingEmptySubsequences: false)
        let good = pins.allSatisfy { pin in
            pin.hasPrefix("sha256//") && Data(base64Encoded: String(pin.dropFirst(8)))?.count == 32
        }
        return good ? nil : "must be sha256// and the key's SHA-256 digest in base64, as in libcurl."
    }

    /// Accepts a room, chat or user of a chat: no service has one with a space or a control character.
    static func room(_ text: String) -> String? {
        let isWord = text.unicodeScalars.allSatisfy { $0.value > 32 && $0.value != 127 && !$0.properties.isWhitespace }
        return isWord && text.utf8.count <= 255
            ? literal(text) : "must be the id that the service shows, without spaces."
    }

    static func topic(_ text: String) -> String? {
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        return isPlain && text.utf8.count <= 64 ? nil : "must be letters, digits, - and _, at most 64 long."
    }

    // MARK: Schedules

    /// Names that other programs have for schedules.
    private static let nicknames = [
        "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
        "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
    ]

    static func schedule(_ text: String) -> String? {
        if (try? DurationText.parse(text)) != nil {
            return "must be five fields; for an interval write every: \(text)."
        }
        if text.contains(", ") || text.contains(" ,") {
            return "has a space beside a comma; write \"\(text.replacing(/\s*,\s*/, with: ","))\"."
        }
        if let fields = nicknames[text.lowercased()] { return "must be five fields; write \"\(fields)\"." }
        do throws(CronError) {
            _ = try CronExpression(text)
            return nil
        } catch {
            return error.description
        }
    }

    static func timezone(_ text: String) -> String? {
        if text.prefixMatch(of: /(UTC|GMT)[+\-]/) != nil {
            return "must be a time zone of the IANA database, such as Europe/Berlin; offsets follow no summer time."
        }
        do throws(ZoneError) {
            _ = try ZoneDatabase.ofMachine.zone(text)
            return nil
        } catch {
            if error != .unknown { return error.description }
        }
        let tail = Suggestion.tail(for: text, among: TimeZone.knownTimeZoneIdentifiers)
        return "must be a time zone of the IANA database, such as Europe/Berlin\(tail)"
    }

    // MARK: Requests

    static func json(_ text: String) -> String? {
        (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil
            ? nil : "must be JSON."
    }

    /// Accepts a header that the agent does not set itself and that does not carry a credential.
    static func header(_ name: String, _ value: String) -> String? {
        let isToken =
            !name.isEmpty && name.utf8.allSatisfy { $0 > 32 && $0 < 127 && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
        guard isToken else { return "must have the name of a header, such as X-Client." }
        if ["authorization", "proxy-authorization", "cookie", "x-api-key"].contains(name.lowercased()) {
            return "contains a credential; put it in a file and name that as token_file."
        }
        let own: Set = [
            "user-agent", "content-type", "accept", "if-none-match", "content-length", "host", "transfer-encoding",
        ]
        if own.contains(name.lowercased()) { return "is set by the agent; remove it." }
        return value.utf8.allSatisfy { (32...126).contains($0) } ? nil : "must be printable ASCII."
    }
}
