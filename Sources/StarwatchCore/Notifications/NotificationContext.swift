/// The data for the texts and links of a notification, beside its changes.
public struct NotificationContext: Sendable {
    /// The largest count of ``NotificationGroup/several``.
    public var largestGroup: Int
    /// The texts, and with them the locale.
    public var messages: Messages
    /// The host's project names by handle. They take precedence over the server's names.
    public var names: [String: String]
    /// The changed fields by JWT ID; changes without a known earlier state have no entry.
    public var fields: [JWTID: [String: FieldChange]]
    /// The shortlink for changes that do not fit into a link, see
    /// ``NotificationMessage/needsShortlink(_:part:largestGroup:)``.
    public var shortlink: Shortlink?
    /// The notification's place in its group; `nil` if it holds the whole group.
    public var part: NotificationPart?

    public init(
        largestGroup: Int = 5,
        messages: Messages = .english,
        names: [String: String] = [:],
        fields: [JWTID: [String: FieldChange]] = [:],
        shortlink: Shortlink? = nil,
        part: NotificationPart? = nil
    ) {
        self.largestGroup = largestGroup
        self.messages = messages
        self.names = names
        self.fields = fields
        self.shortlink = shortlink
        self.part = part
    }
}
