/// The problems that exist, with the time at which each was first seen.
package struct ProblemHistory: Sendable {
    /// The difference from the last look.
    package struct Change: Sendable, Hashable {
        package var began: [Problem] = []
        package var ended: [Problem] = []
    }

    /// A look for problems. It takes several steps, and others can overtake it.
    package struct Look: Sendable { fileprivate let number: Int }

    private var known: [Problem] = []
    private var looks = 0
    /// The newest look whose problems are known.
    private var followed = 0

    package init() {}

    /// Begins to look for problems.
    package mutating func beginLook() -> Look {
        looks += 1
        return Look(number: looks)
    }

    /// The problems with their starts: one without gets the time at which it was first seen. Remembers nothing.
    package func dated(_ problems: [Problem], now: Timestamp) -> [Problem] {
        problems.map { problem in
            var problem = problem
            let first = known.first { $0.word == problem.word }?.since
            problem.since = min(problem.since ?? first ?? now, now)
            return problem
        }
    }

    /// Takes the problems that a look has found. One without a start gets the time at which it was first seen.
    ///
    /// - Parameters:
    ///   - look: A look that a later one has overtaken begins and ends nothing.
    ///   - isComplete: `false` if others can exist that could not be looked for. Then none ends.
    /// - Returns: The same problems with their starts, and what has begun and ended since the last call.
    package mutating func follow(
        _ problems: [Problem],
        of look: Look,
        isComplete: Bool = true,
        now: Timestamp
    ) -> (dated: [Problem], change: Change) {
        let dated = dated(problems, now: now)
        guard look.number > followed else { return (dated, Change()) }
        followed = look.number
        let (former, words) = (Set(known.map(\.word)), Set(dated.map(\.word)))
        let gone = known.filter { !words.contains($0.word) }
        known = isComplete ? dated : dated + gone
        return (dated, Change(began: dated.filter { !former.contains($0.word) }, ended: isComplete ? gone : []))
    }
}
