/// The work that all digests need now. Time, zones and the stored state are arguments.
public struct DigestDecision: Sendable, Hashable {
    /// An occurrence and the text to arm it with; `nil` leaves or makes it unarmed.
    public struct Arming: Sendable, Hashable {
        public let occurrence: DigestOccurrence
        public let text: DigestText?
    }

    /// An occurrence that will not be shown, with the reason.
    public struct Skip: Sendable, Hashable {
        public let occurrence: DigestOccurrence
        public let code: SlotCode

        public var status: SlotStatus { code == .empty ? .skipped : .skippedStale }
    }

    /// Armed occurrences that the times, zone or clock no longer produce.
    public var dropped: [DigestOccurrence] = []
    /// Occurrences that are not stored yet.
    public var scheduled: [Arming] = []
    /// Stored occurrences that need another text.
    public var armed: [Arming] = []
    /// Due occurrences with their text. An armed text that differs is replaced first.
    public var fired: [Arming] = []
    public var skipped: [Skip] = []
    /// Occurrences whose single fetch is due.
    public var prefetches: [DigestOccurrence] = []
    /// The time of the next work; `nil` without digests.
    public var next: Timestamp?

    /// The time ahead for which occurrences are armed: 24 h.
    public static let horizon = Duration.seconds(86_400)
    /// The longest delay after which an occurrence is still shown, if the agent did not run at its time: 10 min.
    public static let grace = Duration.seconds(600)
    /// The age up to which missed occurrences are recorded: 14 days, their retention.
    public static let memory = Duration.seconds(14 * 86_400)

    /// Decides for all digests.
    ///
    /// - Parameters:
    ///   - rows: The stored occurrences: all open ones, and those that ended within the last day.
    ///   - contents: The time of each digest's stored content; digests without content have no entry.
    ///   - empty: The digests with empty content.
    ///   - armedThrough: The time up to which each digest was armed. Earlier occurrences that are missing were not
    ///     wanted.
    public static func decide(
        plans: [DigestPlan],
        rows: [DigestRow],
        contents: [DigestName: Timestamp],
        empty: Set<DigestName> = [],
        armedThrough: [DigestName: Timestamp],
        now: Timestamp
    ) -> DigestDecision {
        var decision = DigestDecision()
        let stored = Dictionary(rows.map { ($0.occurrence, $0) }, uniquingKeysWith: { first, _ in first })
        var wanted: Set<DigestOccurrence> = []
        for plan in plans {
            for time in plan.times {
                let slot = DigestOccurrence.slot(plan.name, time)
                let start = beginning(of: slot, rows, armedThrough: armedThrough[plan.name], now)
                for occurrence in plan.occurrences(of: time, after: start, through: now + horizon) {
                    wanted.insert(occurrence)
                    let candidate = Candidate(
                        occurrence: occurrence,
                        row: stored[occurrence],
                        plan: plan,
                        contentAt: contents[plan.name],
                        isEmpty: empty.contains(plan.name)
                    )
                    decision.add(candidate, now: now)
                }
            }
        }
        for row in rows where row.isOpen && !wanted.contains(row.occurrence) {
            if now - row.occurrence.fireAt > grace, plans.contains(where: { $0.name == row.occurrence.digest }) {
                decision.skipped.append(Skip(occurrence: row.occurrence, code: .missed))
            } else {
                decision.dropped.append(row.occurrence)
            }
        }
        return decision
    }

    /// Decides what to show on request, outside the digest's times: cached content if it is recent enough, otherwise
    /// the fixed text.
    ///
    /// - Parameters:
    ///   - contentAt: The time of the stored content; `nil` if there is none.
    ///   - time: The current time. Must differ from the time of every earlier request.
    public static func show(
        _ plan: DigestPlan,
        contentAt: Timestamp?,
        isEmpty: Bool,
        at time: Timestamp
    ) -> DigestDecision {
        var decision = DigestDecision()
        let occurrence = DigestOccurrence(askedFor: plan.name, at: time)
        let young = contentAt.flatMap { time - $0 <= plan.ttl ? $0 : nil }
        if young != nil, isEmpty, plan.onEmpty == .skip {
            decision.skipped = [Skip(occurrence: occurrence, code: .empty)]
        } else {
            decision.fired = [Arming(occurrence: occurrence, text: young.map { .cached($0) } ?? .fallback)]
        }
        return decision
    }

    /// The start of planning: the time up to which the digest was armed; now for a new digest.
    private static func beginning(
        of slot: String,
        _ rows: [DigestRow],
        armedThrough: Timestamp?,
        _ now: Timestamp
    ) -> Timestamp {
        let open = rows.filter { $0.occurrence.slot == slot && $0.isOpen }.map(\.occurrence.fireAt).min()
        let first = min(open.map { $0 - .milliseconds(1) } ?? now, armedThrough ?? now, now)
        return max(first, now - memory)
    }

    private mutating func add(_ candidate: Candidate, now: Timestamp) {
        let (occurrence, row, plan) = (candidate.occurrence, candidate.row, candidate.plan)
        let fireAt = occurrence.fireAt
        if let row, !row.isOpen {
            // Skipped under a clock that was ahead and has been set back; its time is still to come.
            guard [.skippedStale, .skipped].contains(row.status), !row.isFired, fireAt > now else { return }
            dropped.append(occurrence)
            wake(at: now)
            return
        }
        if now - fireAt > Self.grace {
            skipped.append(Skip(occurrence: occurrence, code: .missed))
        } else if fireAt <= now {
            if let text = candidate.text(isDue: true) {
                fired.append(Arming(occurrence: occurrence, text: text))
            } else {
                skipped.append(Skip(occurrence: occurrence, code: candidate.reason))
            }
        } else {
            let text = candidate.text(isDue: false)
            let arming = text.map { DigestRow.Arming(text: $0, fingerprint: plan.fingerprint) }
            if row == nil {
                scheduled.append(Arming(occurrence: occurrence, text: text))
            } else if row?.arming != arming {
                armed.append(Arming(occurrence: occurrence, text: text))
            }
            let isFetched = row.map { $0.prefetch != .none } ?? false
            if !isFetched, now >= fireAt - plan.lead { prefetches.append(occurrence) }
            wake(at: isFetched || now >= fireAt - plan.lead ? fireAt : fireAt - plan.lead)
        }
    }

    private mutating func wake(at time: Timestamp) { next = min(next ?? time, time) }

    /// An occurrence that a plan produces, with its stored row and the content.
    private struct Candidate {
        let occurrence: DigestOccurrence
        let row: DigestRow?
        let plan: DigestPlan
        /// The time of the stored content; `nil` if there is none.
        let contentAt: Timestamp?
        let isEmpty: Bool

        /// The time of content that is recent enough. Its age counts at the time of the occurrence, not when it is armed.
        private var young: Timestamp? { contentAt.flatMap { occurrence.fireAt - $0 <= plan.ttl ? $0 : nil } }

        /// Whether the content is empty, and such content is not shown.
        private var isNothing: Bool { plan.onEmpty == .skip && isEmpty }

        /// The text of the occurrence; `nil` if it has none, or none yet.
        func text(isDue: Bool) -> DigestText? {
            let prefetch = row?.prefetch ?? .none
            let shown = isNothing ? nil : young
            if prefetch == .succeeded, young != nil { return shown.map { .fresh($0) } }
            if plan.mode == .chained, prefetch == .none || prefetch == .started, !isDue { return nil }
            return switch plan.onMissing {
            case .skip: nil
            case .cached: shown.map { .cached($0) }
            case .fallback: shown.map { .cached($0) } ?? .fallback
            }
        }

        /// The reason why a due occurrence has no text.
        var reason: SlotCode {
            if row?.prefetch == .succeeded, young != nil, isNothing { return .empty }
            return contentAt != nil && young == nil && plan.onMissing != .skip ? .stale : .noContent
        }
    }
}
