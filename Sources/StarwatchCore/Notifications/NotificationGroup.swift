/// The size class of a notification.
public enum NotificationGroup: String, Sendable, CaseIterable, Codable {
    /// One change, named in the text.
    case single
    /// Two changes up to the limit, counted in the text.
    case several
    /// More changes, counted in the text, with "View All".
    case many

    /// The size class of `count` changes (R-NOT-06).
    ///
    /// - Parameter largest: The largest count of `several`; 5 by default.
    public init(count: Int, largest: Int = 5) {
        self = count <= 1 ? .single : count <= largest ? .several : .many
    }
}
