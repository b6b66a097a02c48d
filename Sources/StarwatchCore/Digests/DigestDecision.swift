/// What is to be done about all digests now. Time, zones and what is stored are arguments.
public struct DigestDecision: Sendable, Hashable {
    /// An occurrence and the text to arm it with; `nil`: it stays, or becomes, unarmed.
    public struct Arming: Sendable, Hashable {
        public let occurrence: DigestOccurrence
        public let text: DigestText?
    }

    /// An occurrence that will not be shown, and why.
    public struct Skip: Sendable, Hashable {
        public let occurrence: DigestOccurrence
        public let code: SlotCode
    }

    /// Armed occurrences that are not wanted any more: other times, another zone, another clock.
    public var dropped: [DigestOccurrence] = []
    /// Occurrences that are not stored yet.
    public var scheduled: [Arming] = []
    /// Stored ones whose text is to be replaced.
    public var armed: [Arming] = []
    /// Due ones, with a text; what is armed and differs is replaced first.
    public var fired: [Arming] = []
    public var skipped: [Skip] = []
    /// Those whose one fetch is due.
    public var prefetches: [DigestOccurrence] = []
    /// When there is something to do again; `nil` without digests.
    public var next: Timestamp?

    /// How far ahead occurrences are armed (C-161).
    public static let horizon = Duration.seconds(86_400)
    /// How long after its time an occurrence is still shown, when the agent did not run at its time.
    public static let grace = Duration.seconds(600)
    /// How far back occurrences that were missed are recorded: as long as they are kept.
    public static let memory = Duration.seconds(14 * 86_400)

    /// Decides.
    ///
    /// - Parameters:
    ///   - rows: What is stored: all that is open, and what has ended since the day before.
    ///   - contents: Since when the content of each digest that has any is known to hold.
    ///   - armedThrough: Up to when each digest was armed before; what is missing before that was not wanted then.
    public static func decide(
        plans: [DigestPlan],
        rows: [DigestRow],
        contents: [PollName: Timestamp],
        armedThrough: [PollName: Timestamp],
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
                    decision.add(occurrence, stored[occurrence], plan, contents[plan.name], now)
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

    /// A digest goes on where it was armed up to; one that is new begins now.
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

    private mutating func add(
        _ occurrence: DigestOccurrence,
        _ row: DigestRow?,
        _ plan: DigestPlan,
        _ contentAt: Timestamp?,
        _ now: Timestamp
    ) {
        let fireAt = occurrence.fireAt
        if let row, !row.isOpen {
            // By a clock that was ahead and has been set back; it did not come, and its time is still to come.
            guard row.status == .skippedStale, !row.isFired, fireAt > now else { return }
            dropped.append(occurrence)
            wake(at: now)
            return
        }
        if now - fireAt > Self.grace {
            skipped.append(Skip(occurrence: occurrence, code: .missed))
        } else if fireAt <= now {
            if let text = Self.text(of: occurrence, row, plan, contentAt, isDue: true) {
                fired.append(Arming(occurrence: occurrence, text: text))
            } else {
                let isStale = contentAt != nil && plan.onMissing != .skip
                skipped.append(Skip(occurrence: occurrence, code: isStale ? .stale : .noContent))
            }
        } else {
            let text = Self.text(of: occurrence, row, plan, contentAt, isDue: false)
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

    /// The text that an occurrence is to have; `nil`: none yet, or none at all.
    private static func text(
        of occurrence: DigestOccurrence,
        _ row: DigestRow?,
        _ plan: DigestPlan,
        _ contentAt: Timestamp?,
        isDue: Bool
    ) -> DigestText? {
        let prefetch = row?.prefetch ?? .none
        // Of the time it is shown, not of the time it is armed (C-155).
        let young = contentAt.flatMap { occurrence.fireAt - $0 <= plan.ttl ? $0 : nil }
        if prefetch == .succeeded, let young { return .fresh(young) }
        if plan.mode == .chained, prefetch == .none || prefetch == .started, !isDue { return nil }
        return switch plan.onMissing {
        case .skip: nil
        case .cached: young.map { .cached($0) }
        case .fallback: young.map { .cached($0) } ?? .fallback
        }
    }
}
