import FoundationEssentials

/// The polls that an account wants, in its `notificationPreferences`.
package enum WantedPolls {
    private struct Preferences: Decodable {
        let polls: [String]?
    }

    /// - Parameter preferences: A JSON object.
    /// - Returns: The names; `nil` if it wants all.
    package static func read(_ preferences: String) -> [PollName]? {
        // Most accounts have none, and each visit reads them.
        guard preferences != "{}", let read = try? JSONDecoder().decode(Preferences.self, from: Data(preferences.utf8))
        else { return nil }
        return read.polls.map { $0.compactMap(PollName.init) }
    }
}
