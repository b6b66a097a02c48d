import FoundationEssentials

/// The polls and kinds of poll that an account wants, in its `notificationPreferences`.
package enum WantedPolls {
    /// - Parameter preferences: A JSON object.
    /// - Returns: The names; `nil` if it wants all.
    package static func read(_ preferences: String) -> [PollName]? {
        guard case .list(let polls) = members(preferences)["polls"] else { return nil }
        let names = polls.compactMap { if case .text(let name) = $0 { name } else { nil } }
        return names.count == polls.count ? names.compactMap(PollName.init) : nil
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

    /// Reads the flags of the polls, under the kind's name in either spelling. A missing flag means on.
    ///
    /// - Parameter preferences: A JSON object.
    /// - Returns: The kinds with the flag `false`.
    package static func optedOut(_ preferences: String) -> Set<PollKind> {
        let flags = members(preferences)
        if flags.isEmpty { return [] }
        return Set(PollKind.allCases.filter { (flags[$0.rawValue] ?? flags[$0.preference]) == .flag(false) })
    }

    /// A member of the preferences. One that cannot be read, such as a half of a surrogate pair, does not hide the others.
    private struct Member: Decodable {
        let value: JSONTree

        init(from decoder: any Decoder) { value = (try? JSONTree(from: decoder)) ?? .null }
    }

    private static func members(_ preferences: String) -> [String: JSONTree] {
        // Most accounts have none, and each visit reads them.
        if preferences == "{}" { return [:] }
        let members = try? JSONDecoder().decode([String: Member].self, from: Data(preferences.utf8))
        return members?.mapValues(\.value) ?? [:]
    }

    /// Whether an account's preferences leave a poll on.
    ///
    /// - Parameters:
    ///   - optedOut: The kinds that they switch off.
    ///   - wanted: The polls that they name; `nil` for all.
    package static func has(_ poll: PollName, of kind: PollKind, optedOut: Set<PollKind>, wanted: [PollName]?) -> Bool {
        !optedOut.contains(kind) && wanted?.contains(poll) ?? true
    }

    /// The polls that accounts do not want, one for each account.
    ///
    /// - Parameter accounts: The number of accounts with the same preferences.
    package static func unwanted(_ polls: [(name: PollName, kind: PollKind)], by accounts: [String: Int]) -> Int {
        accounts.reduce(0) { sum, entry in
            let (kinds, names) = (optedOut(entry.key), read(entry.key))
            return sum + entry.value * polls.count { !has($0.name, of: $0.kind, optedOut: kinds, wanted: names) }
        }
    }
}
