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

        public var status: SlotStatus { code == .empty ? .skipped : .skippedStale }
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
    ///   - empty: The digests whose content has nothing in it.
    ///   - armedThrough: Up to when each digest was armed before; what is missing before that was not wanted then.
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
                let content = contents[plan.name].map { Content(at: $0, isEmpty: empty.contains(plan.name)) }
                let start = beginning(of: slot, rows, armedThrough: armedThrough[plan.name], now)
                for occurrence in plan.occurrences(of: time, after: start, through: now + horizon) {
                    wanted.insert(occurrence)
                    decision.add(occurrence, stored[occurrence], plan, content, now)
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

    /// What is shown of a digest when somebody asks for it, whatever its times: content that is young enough and says of
    /// when it is, else the fixed text.
    ///
    /// - Parameters:
    ///   - contentAt: As of ``decide(plans:rows:contents:empty:armedThrough:now:)``; `nil`: there is none.
    ///   - time: Now, and no time at which something was asked for before.
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

    /// What is known of a digest's content.
    private struct Content {
        let at: Timestamp
        let isEmpty: Bool
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
        _ content: Content?,
        _ now: Timestamp
    ) {
        let fireAt = occurrence.fireAt
        if let row, !row.isOpen {
            // By a clock that was ahead and has been set back; it did not come, and its time is still to come.
            guard [.skippedStale, .skipped].contains(row.status), !row.isFired, fireAt > now else { return }
            dropped.append(occurrence)
            wake(at: now)
            return
        }
        if now - fireAt > Self.grace {
            skipped.append(Skip(occurrence: occurrence, code: .missed))
        } else if fireAt <= now {
            if let text = Self.text(of: occurrence, row, plan, content, isDue: true) {
                fired.append(Arming(occurrence: occurrence, text: text))
            } else {
                skipped.append(Skip(occurrence: occurrence, code: Self.reason(occurrence, row, plan, content)))
            }
        } else {
            let text = Self.text(of: occurrence, row, plan, content, isDue: false)
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
        _ content: Content?,
        isDue: Bool
    ) -> DigestText? {
        let prefetch = row?.prefetch ?? .none
        let fresh = young(content, occurrence, plan)
        let young = isNothing(content, plan) ? nil : fresh
        if prefetch == .succeeded, fresh != nil { return young.map { .fresh($0) } }
        if plan.mode == .chained, prefetch == .none || prefetch == .started, !isDue { return nil }
        return switch plan.onMissing {
        case .skip: nil
        case .cached: young.map { .cached($0) }
        case .fallback: young.map { .cached($0) } ?? .fallback
        }
    }

    /// Why an occurrence that is due has no text.
    private static func reason(
        _ occurrence: DigestOccurrence,
        _ row: DigestRow?,
        _ plan: DigestPlan,
        _ content: Content?
    ) -> SlotCode {
        let isYoung = young(content, occurrence, plan) != nil
        if row?.prefetch == .succeeded, isYoung, isNothing(content, plan) { return .empty }
        return content != nil && !isYoung && plan.onMissing != .skip ? .stale : .noContent
    }

    /// Of the time it is shown, not of the time it is armed (C-155).
    private static func young(
        _ content: Content?,
        _ occurrence: DigestOccurrence,
        _ plan: DigestPlan
    ) -> Timestamp? {
        content.flatMap { occurrence.fireAt - $0.at <= plan.ttl ? $0.at : nil }
    }

    private static func isNothing(_ content: Content?, _ plan: DigestPlan) -> Bool {
        plan.onEmpty == .skip && content?.isEmpty == true
    }
}
