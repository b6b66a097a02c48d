/// The data that the server of a mail gets beside the message (RFC 5321).
package struct MailEnvelope: Sendable {
    /// The address that a notice about the mail would go to.
    package var sender: String
    /// The receivers. A mail goes to all of them or to none.
    package var recipients: [String]
    /// User and password; `nil` for a server that wants none.
    package var login: (name: String, password: String)?
    /// Whether the connection must be encrypted before the login and the message: by STARTTLS at `smtp:`.
    package var demandsTLS: Bool

    package init(sender: String, recipients: [String], login: (name: String, password: String)?, demandsTLS: Bool) {
        (self.sender, self.recipients, self.login, self.demandsTLS) = (sender, recipients, login, demandsTLS)
    }

    /// Whether libcurl can send it without another command in an address, or a login that ends early.
    var isWellFormed: Bool {
        let isAddress = { (text: String) in
            !text.isEmpty && text.utf8.allSatisfy { (33...126).contains($0) && $0 != 60 && $0 != 62 }
        }
        return isAddress(sender) && !recipients.isEmpty && recipients.allSatisfy(isAddress)
            && login.map { !$0.name.utf8.contains(0) && !$0.password.utf8.contains(0) } ?? true
    }
}
