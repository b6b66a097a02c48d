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
