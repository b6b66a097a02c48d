import Foundation
import Starwatch
import StarwatchCore
import StarwatchHTTP

/// What a value must be like. Each rule returns the sentence that says what is wrong, or `nil`.
enum ValueRules {
    // MARK: Addresses

    /// An https URL, or http to this machine only (R-REQ-20); no credentials, no query, no fragment unless allowed.
    static func url(_ text: String, allowsQuery: Bool = false) -> String? {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(), let host = parts.host,
            !host.isEmpty
        else { return "must be a URL such as https://example.org." }
        guard scheme == "https" || scheme == "http" else { return "must be a URL that starts with https://." }
        guard parts.user == nil, parts.password == nil else {
            return "must not hold a user or password; credentials belong in a file of their own."
        }
        if let port = parts.port, !(1...65_535).contains(port) { return "must have a port between 1 and 65535." }
        if scheme == "http", !isLoopback(host) {
            return "must start with https://; http:// is allowed to this machine only (127.0.0.1, ::1, localhost)."
        }
        guard parts.fragment == nil, allowsQuery || parts.query == nil else {
            return "must end with its path; remove what follows \(parts.query == nil ? "#" : "?")."
        }
        return nil
    }

    /// Where a person is sent, on whatever network that is; never with credentials.
    static func link(_ text: String) -> String? {
        guard let parts = URLComponents(string: text), ["http", "https"].contains(parts.scheme?.lowercased()),
            parts.host?.isEmpty == false
        else { return "must be a URL such as https://grafana.example.org/dashboards." }
        return parts.user == nil && parts.password == nil ? nil : "must not hold a user or password."
    }

    /// 127.0.0.0/8, ::1 and localhost. Other names are not looked up: what they mean may change.
    static func isLoopback(_ host: String) -> Bool {
        let name = host.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        if name == "localhost" || name == "::1" { return true }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// `host:port`, `[v6]:port`, or `:port` for every IPv4 address; port 0 takes a free one.
    static func listen(_ text: String) -> String? {
        do throws(ListenAddressError) {
            _ = try ListenAddress(parsing: text)
            return nil
        } catch {
            return "must be HOST:PORT, such as 127.0.0.1:9464 or [::1]:9464."
        }
    }

    static func ntpServer(_ text: String) -> String? {
        TimeServerAddress(text) == nil ? "must be HOST or HOST:PORT, such as pool.ntp.org or [::1]:123." : nil
    }

    static func socketPath(_ path: String) -> String? { ControlSocket.problem(ofPath: path).map { $0 + "." } }

    // MARK: Names

    /// What a poll or sink may be called: the name becomes a label value.
    static func name(_ text: String) -> String? {
        if text == "server" { return "must not be called server: that name is taken by the server's own metrics." }
        return PollName(text) != nil
            ? nil : "must have a name of lower-case letters, digits and _, starting with a letter, at most 63 long."
    }

    static func did(_ text: String) -> String? {
        DID(text) != nil ? nil : "must be a DID such as did:ethr:0x…, or null."
    }

    static func locale(_ text: String) -> String? {
        LocaleTag(text) == nil ? "must be a language such as en or en-GB." : nil
    }

    /// `sha256//` and 32 bytes in base64; several are joined with `;`.
    static func pinnedPublicKey(_ text: String) -> String? {
        let pins = text.split(separator: ";", omittingEmptySubsequences: false)
        let good = pins.allSatisfy { pin in
            pin.hasPrefix("sha256//") && Data(base64Encoded: String(pin.dropFirst(8)))?.count == 32
        }
        return good ? nil : "must be sha256// and the key's digest in base64, as libcurl takes it."
    }

    static func topic(_ text: String) -> String? {
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
        return isPlain && text.utf8.count <= 64 ? nil : "must be letters, digits, - and _, at most 64 long."
    }

    // MARK: Schedules

    static func schedule(_ text: String) -> String? {
        do throws(CronError) {
            _ = try CronExpression(text)
            return nil
        } catch {
            return error.description
        }
    }

    static func timezone(_ text: String) -> String? {
        if TimeZone(identifier: text) != nil { return nil }
        let tail = Suggestion.tail(for: text, among: TimeZone.knownTimeZoneIdentifiers)
        return "must be a time zone of the IANA database, such as Europe/Berlin\(tail)"
    }
}
