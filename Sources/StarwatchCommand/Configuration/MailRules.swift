import Starwatch
import StarwatchCore

/// The rules of a sink of kind email.
enum MailRules {
    /// - Parameter library: What is wrong with this machine's libcurl.
    static func check(_ section: SettingsField, library: String? = MailSink.libraryProblem) {
        if let library { section.report(library, at: "kind") }
        for (key, other) in [("username", "password_file"), ("password_file", "username")] {
            if section.has(key), !section.has(other) { section.report("needs \(other); add it.", at: key) }
        }
    }

    /// The address of a mailbox. `config print` does not show it.
    static var mailbox: Rule<String> {
        .text { ValueRules.literal($0) ?? MailAddress.problem(of: $0) }.shown { _ in "<address>" }
    }

    /// The number of receivers that every server takes (RFC 5321, section 4.5.3.1.8).
    private static let mostMailboxes = 100

    /// Addresses of mailboxes: a list, or one of them.
    static var mailboxes: Rule<[String]> {
        Rule(print: ConfigurationPrinter.list) { field in
            guard let items = field.items else { return mailbox.read(field).map { [$0] } }
            guard (1...mostMailboxes).contains(items.count) else {
                return field.reject("must name 1 to \(mostMailboxes) addresses.")
            }
            let addresses = items.compactMap { mailbox.read($0) }
            return addresses.count == items.count ? addresses : nil
        }
        .shown { ConfigurationPrinter.list($0.map { _ in "<address>" }) }
    }
}
