import Foundation
import StarwatchCore

// Rules of the addresses of mail servers.
extension MailSink {
    /// Returns what is wrong with an address, or `nil`.
    static func problem(ofServer text: String) -> String? {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            let host = parts.host, !host.isEmpty, ["smtp", "smtps"].contains(scheme)
        else {
            return "must start with smtps:// or smtp://, such as smtps://mail.example.org; the second needs STARTTLS."
        }
        if parts.user != nil || parts.password != nil {
            return "must not contain a user or password; write them as username and password_file."
        }
        if let port = parts.port, !(1...65_535).contains(port) { return "must have a port between 1 and 65535." }
        guard ["", "/"].contains(parts.path), parts.query == nil, parts.fragment == nil else {
            return "must end with the host or the port; remove what follows."
        }
        return nil
    }

    /// The address with its port: 465, or 587 for the submission of mails (RFC 6409), or 25 of this machine.
    static func complete(_ url: String) -> String {
        guard var parts = URLComponents(string: url) else { return url }
        parts.path = ""
        if parts.port == nil { parts.port = isEncrypted(url) ? 465 : isLoopback(url) ? 25 : 587 }
        return parts.string ?? url
    }

    /// Whether the connection begins with TLS.
    static func isEncrypted(_ url: String) -> Bool { URLComponents(string: url)?.scheme?.lowercased() == "smtps" }

    static func isLoopback(_ url: String) -> Bool {
        URLComponents(string: url)?.host.map(ListenAddress.isLoopback) ?? false
    }
}
