/// Problems of one cause, which people see as one with a count. Words, metrics and alerts keep one for each poll and sink.
package struct ProblemGroup: Sendable, Hashable {
    /// The properties that decide about the cause.
    package struct Member: Sendable, Hashable {
        /// `nil` for a kind of a newer agent.
        package let kind: Problem.Kind?
        package let subject: String?
        package let reason: String?

        package init(_ kind: Problem.Kind?, of subject: String?, reason: String?) {
            (self.kind, self.subject, self.reason) = (kind, subject, reason)
        }
    }

    /// The index of the gravest problem.
    package let first: Int
    private let member: Member
    /// The number of further polls, sinks or ports with the same problem.
    private var others = 0
    /// The number of polls that are stale for it.
    private var stale = 0

    private init(_ member: Member, at index: Int) { (first, self.member) = (index, member) }

    /// Groups problems that stand in the order of their gravity.
    package static func groups(of members: [Member]) -> [ProblemGroup] {
        var groups: [ProblemGroup] = []
        for (index, member) in members.enumerated() {
            if member.kind == .stale, let cause = members.firstIndex(where: { $0.stops(member.subject) }),
                let group = groups.firstIndex(where: { $0.first == cause || $0.member.isAlike(members[cause]) })
            {
                groups[group].stale += 1
            } else if let group = groups.firstIndex(where: { $0.member.isAlike(member) }) {
                groups[group].others += 1
            } else {
                groups.append(ProblemGroup(member, at: index))
            }
        }
        return groups
    }

    /// The title of the gravest problem with the number of others.
    package func title(_ title: String) -> String {
        let noun =
            switch member.kind?.topic {
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
}

extension ProblemGroup.Member {
    fileprivate func isAlike(_ other: Self) -> Bool {
        kind != nil && kind == other.kind && reason == other.reason && subject != nil && other.subject != nil
    }

    /// Whether it keeps this poll from succeeding.
    func stops(_ poll: String?) -> Bool {
        guard let kind, kind.stopsPolls else { return false }
        return kind.topic != .poll || subject == poll
    }
}

extension Problem {
    var member: ProblemGroup.Member { .init(kind, of: subject, reason: reason) }
}
