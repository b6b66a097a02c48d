import StarwatchCore

/// The parts that every surface for people shows in the same way.
extension AgentStatus {
    /// The state of a poll in one word.
    package enum PollState: Sendable, Hashable {
        case needsAction, stale, failing
        /// The server lacks its endpoint, so it rests.
        case noEndpoint
        case skipped(SkipReason)
        case behind
        /// It never succeeded.
        case new
        case fresh

        package var words: String {
            switch self {
            case .needsAction: "needs action"
            case .stale: "stale"
            case .failing: "failing"
            case .noEndpoint, .skipped(.endpointMissing): "no endpoint"
            case .skipped(let reason): reason.rawValue.replacing("_", with: " ")
            case .behind: "behind"
            case .new: "new"
            case .fresh: "fresh"
            }
        }
    }

    /// The state of the poll of that name. Only one that runs and succeeded is fresh.
    package func state(of name: String, _ poll: Poll) -> PollState {
        if poll.needsAction { return .needsAction }
        if poll.stale { return .stale }
        if has(.failing, of: name) || has(.contractViolated, of: name) { return .failing }
        if has(.endpointMissing, of: name) { return .noEndpoint }
        if let reason = poll.skipReason { return .skipped(reason) }
        if has(.behind, of: name) { return .behind }
        return poll.lastSuccess == nil ? .new : .fresh
    }

    /// Whether a poll is stale for the cause of another problem, and ``shownProblems`` has its number only.
    package var isStalenessPartOfAnother: Bool {
        func hasStale(_ problems: [Problem]?) -> Bool {
            problems?.contains { $0.problem == StarwatchCore.Problem.Kind.stale.rawValue } ?? false
        }
        return hasStale(problems) && !hasStale(shownProblems)
    }

    /// The problems as people see them, the gravest first: those of one cause are one, whose title has their number.
    package var shownProblems: [Problem]? {
        guard let problems else { return nil }
        let members = problems.map {
            let kind = StarwatchCore.Problem.Kind(rawValue: $0.problem)
            return ProblemGroup(kind, of: $0.subject, reason: $0.reason)
        }
        return ProblemGroup.groups(of: members).map { group in
            var problem = problems[group.first]
            problem.title = group.title(problem.title)
            return problem
        }
    }
}
