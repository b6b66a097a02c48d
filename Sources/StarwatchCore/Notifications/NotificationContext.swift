/// The data for the texts and links of a notification, beside its changes.
public struct NotificationContext: Sendable {
    /// The largest count of ``NotificationGroup/several``.
    public var largestGroup: Int
    /// The texts, and with them the locale.
    public var messages: Messages
    /// The host's project names by handle. They take precedence over the server's names.
    public var names: [String: String]
    /// The changed fields by JWT ID; changes without a known earlier state have no entry.
    public var fields: [JWTID: FieldChanges]
    /// The shortlink for changes that do not fit into a link, see
    /// ``NotificationMessage/needsShortlink(_:part:largestGroup:)``.
    public var shortlink: Shortlink?
    /// The notification's place in its group; `nil` if it holds the whole group.
    public var part: NotificationPart?
    /// The kinds of the polls, for a notification of several.
    package var kinds: [PollName: PollKind] = [:]
    /// The texts of lists that have their own.
    package var texts: [PollName: OwnTexts] = [:]

    public init(
        largestGroup: Int = 5,
        messages: Messages = .english,
        names: [String: String] = [:],
        fields: [JWTID: FieldChanges] = [:],
        shortlink: Shortlink? = nil,
        part: NotificationPart? = nil
    ) {
        (self.largestGroup, self.messages, self.names, self.fields) = (largestGroup, messages, names, fields)
        (self.shortlink, self.part) = (shortlink, part)
    }
}

/// The place of a notification in a group of changes that is too large for one.
///
/// A notification lists all of its changes, at most ``NotificationMessage/listedChanges``. A larger group becomes
/// several notifications, so that a receiver learns the id of every change.
public struct NotificationPart: Sendable, Hashable {
    /// The number of this notification in the group, from 1.
    public let number: Int
    /// The number of notifications in the group.
    public let parts: Int
    /// The number of changes in the group when it was split. It is the same in all parts, so that a receiver can tell that
    /// they belong together: some can be delivered before a change of another is discarded.
    public let total: Int

    public init(number: Int, of parts: Int, total: Int) {
        (self.number, self.parts, self.total) = (number, parts, total)
    }

    /// Splits the changes of a group, in their order. The part is `nil` if one notification holds all of them.
    public static func split<Item>(
        _ group: [Item],
        by size: Int = NotificationMessage.listedChanges
    ) -> [(items: [Item], part: NotificationPart?)] {
        guard group.count > size else { return group.isEmpty ? [] : [(group, nil)] }
        let parts = (group.count + size - 1) / size
        return (0..<parts).map { index in
            (
                Array(group[index * size..<min(group.count, (index + 1) * size)]),
                NotificationPart(number: index + 1, of: parts, total: group.count)
            )
        }
    }
}

/// The size class of a notification.
public enum NotificationGroup: String, Sendable, CaseIterable, Codable {
    /// One change, named in the text.
    case single
    /// Two changes up to the limit, counted in the text.
    case several
    /// More changes, counted in the text, with "View All".
    case many

    /// The size class of `count` changes.
    ///
    /// - Parameter largest: The largest count of `several`; 5 by default.
    public init(count: Int, largest: Int = 5) {
        self = count <= 1 ? .single : count <= largest ? .several : .many
    }
}
