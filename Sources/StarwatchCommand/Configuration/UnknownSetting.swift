// The sentence about a setting that a section does not have.
extension SettingsField {
    /// Words for a secret that people write where the name of its file belongs.
    private static let secrets: Set = [
        "token", "tokens", "secret", "password", "passphrase", "key", "private_key", "api_key", "jwt", "signing_key",
    ]

    /// The settings of files that contain no secret.
    private static let publicFiles: Set = ["ca_file", "cert_file", "client_ca_file", "web_config_file"]

    /// Names of other programs for a setting.
    private static let synonyms: [String: Set<String>] = [
        "schedule": ["cron", "crontab", "when"],
        "every": ["interval", "frequency", "period", "poll_interval"],
        "timezone": ["tz", "zone"],
        "plan_ids": ["plans", "stars", "starred", "starred_plans", "projects"],
        "url": ["uri", "endpoint", "host", "address", "base_url"],
        "path": ["file", "filename", "database"],
        "argv": ["command", "cmd", "exec", "program", "args"],
        "kind": ["type"],
        "listen": ["port", "bind", "listen_address"],
        "give_up_after": ["expire", "expires"],
        "times": ["time", "at", "hours"],
        "stale_after": ["max_age"],
    ]

    /// - Parameter known: The section's settings.
    static func problem(ofUnknown key: String, among known: [String], isItem: Bool) -> String {
        if let file = file(for: key, among: known) {
            return
                "is a secret, which never belongs here; write it into a file of its own, and name that: \(file): FILE."
        }
        if key.unicodeScalars.contains(where: YAMLMistake.isStrangeSpace) {
            return "has a no-break space or another invisible character; type it again with plain spaces."
        }
        if key == "<<" { return "YAML merges are not supported; write the settings out." }
        if let other = known.first(where: { synonyms[$0]?.contains(key.lowercased()) == true }) {
            return "there is no such setting; did you mean \"\(other)\"?"
        }
        if ["enabled", "enable", "disabled", "disable"].contains(key.lowercased()) {
            return "there is no such setting; to switch this off, remove the whole part."
        }
        if let near = Suggestion.nearest(to: key, among: known) {
            return "there is no such setting; did you mean \"\(near)\"?"
        }
        let places = isItem ? [] : elsewhere(key)
        if places.isEmpty { return "there is no such setting." }
        return "there is no such setting here; did you mean \(places.map { "\"\($0)\"" }.joined(separator: " or "))?"
    }

    /// The setting for the file of a secret.
    private static func file(for key: String, among known: [String]) -> String? {
        let files = known.filter { $0.hasSuffix("_file") && !publicFiles.contains($0) }
        if let exact = files.first(where: { ["\(key)_file", "\(key)s_file"].contains($0) }) { return exact }
        return isSecret(key) ? files.first : nil
    }

    /// Whether people give a setting for a secret this name.
    static func isSecret(_ key: String) -> Bool { secrets.contains(key.lowercased()) }

    /// The paths of the settings of that name in other sections, at most two.
    private static func elsewhere(_ key: String) -> [String] {
        let paths = ConfigurationPrinter.reference.map { $0.path.replacing("[]", with: "") }
            .filter { path in path == key || path.hasSuffix("." + key) }
        let plain = paths.filter { $0.count { $0 == "." } == 1 }
        return Array((plain.isEmpty ? paths : plain).prefix(2))
    }
}

/// The known word nearest to an unknown one, for "did you mean".
enum Suggestion {
    /// The nearest candidate within a third of the word's length, 1 to 3 edits; `nil` if none is that near.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let limit = max(1, min(3, word.count / 3))
        let plain = folded(word)
        let ranked = candidates.map { (word: $0, distance: distance(plain, folded($0))) }
        guard let best = ranked.min(by: { ($0.distance, $0.word) < ($1.distance, $1.word) }) else { return nil }
        return best.distance <= limit ? best.word : completion(of: plain, among: candidates)
    }

    /// The only candidate that begins with the word, of three letters or more: `warn` is `warning`.
    private static func completion(of word: [Character], among candidates: [String]) -> String? {
        let longer = candidates.filter { folded($0).starts(with: word) }
        return word.count >= 3 && longer.count == 1 ? longer[0] : nil
    }

    /// The end of a sentence: `; did you mean "timeout"?`, or `.` if no candidate is near.
    static func tail(for word: String, among candidates: [String]) -> String {
        nearest(to: word, among: candidates).map { "; did you mean \"\($0)\"?" } ?? "."
    }

    /// The word without case, `-` and `_`: `maxRetries` is near `max_retries`.
    private static func folded(_ word: String) -> [Character] {
        word.lowercased().filter { $0 != "_" && $0 != "-" }
    }

    /// The number of insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
    static func distance(_ a: [Character], _ b: [Character]) -> Int {
        guard !a.isEmpty else { return b.count }
        guard !b.isEmpty else { return a.count }
        var before: [Int] = []
        var above = Array(0...b.count)
        for i in 1...a.count {
            var row = [i] + Array(repeating: 0, count: b.count)
            for j in 1...b.count {
                let substituted = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
                row[j] = min(above[j] + 1, row[j - 1] + 1, substituted)
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    row[j] = min(row[j], before[j - 2] + 1)
                }
            }
            before = above
            above = row
        }
        return above[b.count]
    }
}
