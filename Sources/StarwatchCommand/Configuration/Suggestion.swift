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
