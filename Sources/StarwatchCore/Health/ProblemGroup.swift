/// Problems of one cause, which people see as one with a count. Words, metrics and alerts keep one for each poll and sink.
package struct ProblemGroup: Sendable, Hashable {
    /// The properties that decide about the cause. The kind is `nil` for one of a newer agent.
    private let kind: Problem.Kind?
    private let subject: String?
    private let reason: String?
    /// The index of the gravest problem.
    package private(set) var first = 0
    /// The number of further polls, sinks or ports with the same problem.
    private var others = 0
    /// The number of polls that are stale for it.
    private var stale = 0

    /// A problem alone.
    package init(_ kind: Problem.Kind?, of subject: String?, reason: String?) {
        (self.kind, self.subject, self.reason) = (kind, subject, reason)
    }

    /// Groups problems that stand in the order of their gravity.
    package static func groups(of problems: [ProblemGroup]) -> [ProblemGroup] {
        var groups: [ProblemGroup] = []
        for (index, problem) in problems.enumerated() {
            if problem.kind == .stale, let cause = problems.firstIndex(where: { $0.stops(problem.subject) }),
                let group = groups.firstIndex(where: { $0.first == cause || $0.isAlike(problems[cause]) })
            {
                groups[group].stale += 1
            } else if let group = groups.firstIndex(where: { $0.isAlike(problem) }) {
                groups[group].others += 1
            } else {
                groups.append(problem)
                groups[groups.count - 1].first = index
            }
        }
        return groups
    }

    /// The title of the gravest problem with the number of others.
    package func title(_ title: String) -> String {
        let noun =
            switch kind?.topic {
            case .sink: "sink"
            case .port: "port"
            case .certificate: "certificate"
            default: "poll"
            }
        let parts = [
            others == 0 ? nil : others == 1 ? "and 1 more \(noun)" : "and \(others) more \(noun)s",
            stale == 0 ? nil : stale == 1 ? "1 poll is stale" : "\(stale) polls are stale",
        ].compactMap(\.self)
        return parts.isEmpty ? title : "\(title) (\(parts.joined(separator: "; ")))"
    }

    private func isAlike(_ other: Self) -> Bool {
        kind != nil && kind == other.kind && reason == other.reason && subject != nil && other.subject != nil
    }

    /// Whether it keeps this poll from succeeding.
    func stops(_ poll: String?) -> Bool {
        guard let kind, kind.stopsPolls else { return false }
        return kind.topic != .poll || subject == poll
    }
}

extension Problem {
    var group: ProblemGroup { ProblemGroup(kind, of: subject, reason: reason) }
}
