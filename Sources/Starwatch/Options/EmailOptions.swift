/// The settings of a sink that sends mails.
public struct EmailOptions: Sendable, Hashable {
    /// The mail server: `smtps://host`, with port 465 if it names none, or `smtp://host`, with port 587. The second one must
    /// offer STARTTLS. At this machine `smtp:` is in clear text, with port 25.
    public var url: String
    /// The sender, such as `agent@example.org` or `Starwatch <agent@example.org>`.
    public var from: String
    /// The receivers. If it is empty, each of many accounts brings its own.
    public var to: [String]
    /// The user at the server. `nil`, the default: no login.
    public var username: String?
    /// A file of mode 0600 with the user's password. It is read before every mail. `nil` without a login.
    public var passwordFile: String?

    public init(url: String, from: String, to: [String]) {
        (self.url, self.from, self.to) = (url, from, to)
    }
}
