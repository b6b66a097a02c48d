/// An account's interests: its stars and its preferences.
package struct Interests: Sendable {
    /// The starred plans in the order of starring; empty for an unknown account, and if they are unreadable.
    package let stars: [String]
    /// Whether the stored stars do not open, or are no list of texts. Nobody but a change of the stars overwrites them
    /// (R-VAL-12).
    package let areStarsUnreadable: Bool
    /// `notificationPreferences`, a JSON object; `"{}"` if none are stored.
    package let preferences: String
    /// ``stars`` in their stored form, which is cheaper to compare. A rotation of the data keys changes it.
    let storedStars: String?
}

/// Interests are equal if they mean the same, whatever key their stars are encrypted with.
extension Interests: Hashable {
    package static func == (left: Interests, right: Interests) -> Bool {
        left.stars == right.stars && left.areStarsUnreadable == right.areStarsUnreadable
            && left.preferences == right.preferences
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(stars)
        hasher.combine(preferences)
    }
}
