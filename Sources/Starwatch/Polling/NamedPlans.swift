import Logging
import StarwatchCore
import StarwatchTelemetry

/// The plans that a poll names in its requests, or searches for.
struct NamedPlans {
    let kind: PollKind
    /// The account's own plans, or the claims that those of the poll can link to; `nil` for other polls, and before they are known.
    var own: OwnClaims?
    /// The time since the machine's start at which those were asked for; `nil` for other polls.
    var askedBoottime: Duration?
    /// The plans of the walk, in parts that fit into a request; empty for polls that name none.
    var chunks: [PlanChunk] = []

    private let searches: [PlanChunk]

    init(_ poll: Poll) {
        kind = poll.kind
        searches =
            kind.walksRows ? PlanSearch.all(near: poll.options.near, words: poll.options.words).map(PlanChunk.init) : []
    }

    /// Whether only what links to a claim of the account is announced.
    var areLinked: Bool { kind.isOfLinks && searches.isEmpty }

    /// The plans in parts that fit into a request of a dialect.
    func split(_ snapshot: IdentityContext.Snapshot, in dialect: Dialect) -> [PlanChunk] {
        switch kind.scope {
        case .starredPlans: snapshot.chunks(for: kind, dialect: dialect)
        case .ownPlans: PlanChunk.split(own?.handles ?? [], dialect: dialect, form: kind.planForm)
        case .recipient, .token, .links, .list: searches
        }
    }

    /// The first part for a request that both dialects accept, within the smaller size limit; `nil` without plans.
    func smallestPart(_ snapshot: IdentityContext.Snapshot) -> PlanChunk? {
        Dialect.allCases.compactMap { split(snapshot, in: $0).first }.min { $0.count < $1.count }
    }

    /// The facts about the account for the reader of pages.
    ///
    /// - Parameters:
    ///   - author: The account whose own claims are no news; `nil` if they are.
    ///   - cursor: `nil` before it is known.
    func context(_ snapshot: IdentityContext.Snapshot, author: DID?, after cursor: JWTID? = nil) -> PageContext {
        PageContext(
            author: author,
            cursor: cursor,
            plans: kind.traits.namesPlanInClaim ? Set(snapshot.stars) : nil,
            names: own?.names ?? [:]
        )
    }
}

extension PollCycle {
    /// Notes the account's own plans that the cycle asks for, and counts and logs that it has more. Each cycle is counted,
    /// and the first one is logged.
    ///
    /// - Parameter request: The request that brought the last of them.
    func note(_ plans: OwnClaims, of request: RequestTrace?) {
        let wereCut = memory.note(OwnPlansNote(plans))?.areCut ?? false
        guard plans.areCut else { return }
        metrics.polls.plansLeftOut[poll.label].increment()
        if !wereCut { log(.pollPlansLeftOut, [.projectCount: .number(plans.handles.count)], of: request) }
    }
}

/// The number of own plans that the last cycle asked for, and whether the account has more.
package struct OwnPlansNote: Sendable, Hashable {
    package let asked: Int
    package let areCut: Bool

    init(_ plans: OwnClaims) { (asked, areCut) = (plans.handles.count, plans.areCut) }
}
