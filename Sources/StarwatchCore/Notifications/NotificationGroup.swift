/// How many changes a notification speaks of.
public enum NotificationGroup: String, Sendable, CaseIterable, Codable {
    /// One change: named.
    case single
    /// Two up to the largest group: counted.
    case several
    /// More: counted, with "View All".
    case many

    /// The group of `count` changes (R-NOT-06).
    ///
    /// - Parameter largest: The largest group that is "several"; 5 by default.
    public init(count: Int, largest: Int = 5) {
        self = count <= 1 ? .single : count <= largest ? .several : .many
    }
}
