/// The problems that exist, with the time at which each was first seen.
package struct ProblemHistory: Sendable {
    /// What has changed since the last look.
    package struct Change: Sendable, Hashable {
        package var began: [Problem] = []
        package var ended: [Problem] = []
    }

    private var known: [Problem] = []

    package init() {}

    /// Takes the present problems. One without a start gets the time at which it was first seen.
    ///
    /// - Returns: The same problems with their starts, and what has begun and ended since the last call.
    package mutating func follow(_ problems: [Problem], now: Timestamp) -> (dated: [Problem], change: Change) {
        let former = Dictionary(known.map { ($0.word, $0) }) { first, _ in first }
        let dated = problems.map { problem in
            var problem = problem
            problem.since = problem.since ?? former[problem.word]?.since ?? now
            return problem
        }
        let words = Set(dated.map(\.word))
        let change = Change(
            began: dated.filter { former[$0.word] == nil },
            ended: known.filter { !words.contains($0.word) }
        )
        known = dated
        return (dated, change)
    }
}
