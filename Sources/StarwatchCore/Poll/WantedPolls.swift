import FoundationEssentials

/// The polls and kinds of poll that an account wants, in its `notificationPreferences`.
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

    /// Whether the preferences have nothing that the account's user chose. The list of polls is the operator's, who added
    /// the account.
    ///
    /// - Parameter preferences: A JSON object.
    package static func isWithoutChoice(_ preferences: String) -> Bool {
        guard preferences != "{}" else { return true }
        guard case .object(let members) = JSONTree(json: Array(preferences.utf8)) else { return false }
        return members.keys.allSatisfy { $0 == "polls" }
    }

    /// Reads the flags of R-VAL-12, under the kind's name in either spelling. A missing flag means on.
    ///
    /// - Parameter preferences: A JSON object.
    /// - Returns: The kinds with the flag `false`.
    package static func optedOut(_ preferences: String) -> Set<PollKind> {
        struct Flag: Decodable {
            let isOff: Bool

            init(from decoder: any Decoder) throws {
                isOff = (try? decoder.singleValueContainer().decode(Bool.self)) == false
            }
        }
        let flags = (try? JSONDecoder().decode([String: Flag].self, from: Data(preferences.utf8))) ?? [:]
        return Set(PollKind.allCases.filter { flags[$0.rawValue]?.isOff ?? flags[$0.preference]?.isOff ?? false })
    }
}
