/// When the text of a digest is armed.
public enum DigestMode: String, Sendable, CaseIterable {
    /// A day ahead with what there is, and again when the fetch has brought something new.
    case prearmed
    /// Only when the fetch of the occurrence has ended, whatever came of it.
    case chained
}

/// What is shown when the fetch of an occurrence brought nothing.
public enum DigestFallback: String, Sendable, CaseIterable {
    /// What was fetched before, while it is young enough; else nothing.
    case cached
    /// What was fetched before, while it is young enough; else a fixed text.
    case fallback
    /// Nothing.
    case skip
}

/// What becomes of content that has nothing in it (``DigestContent/isEmpty``).
public enum EmptyContent: String, Sendable, CaseIterable {
    /// It is shown as any other.
    case show
    /// It is as if there were none, and if it was fetched for the occurrence, nothing comes.
    case skip
}

/// What decides when a digest comes and what of.
public struct DigestPlan: Sendable {
    public var name: DigestName
    public var times: [DayTime]
    public var zone: any TimeZoneRules
    /// How long after each time it comes, from ``Splay``: the same every day.
    public var delay: Duration
    /// How long before its time an occurrence is fetched.
    public var lead: Duration
    /// How old content may be at the time it is shown.
    public var ttl: Duration
    public var mode: DigestMode
    public var onMissing: DigestFallback
    public var onEmpty: EmptyContent
    /// Stands for all that the texts are made of beside the content: another one means that they must be made again.
    public var fingerprint: Int64

    public init(
        name: DigestName,
        times: [DayTime],
        zone: any TimeZoneRules,
        delay: Duration = .zero,
        lead: Duration,
        ttl: Duration,
        mode: DigestMode,
        onMissing: DigestFallback,
        onEmpty: EmptyContent = .show,
        fingerprint: Int64 = 0
    ) {
        self.name = name
        self.times = times
        self.zone = zone
        self.delay = delay
        self.lead = lead
        self.ttl = ttl
        self.mode = mode
        self.onMissing = onMissing
        self.onEmpty = onEmpty
        self.fingerprint = fingerprint
    }

    /// The occurrences after `start` and not after `end`, slot by slot, each in order.
    public func occurrences(after start: Timestamp, through end: Timestamp) -> [DigestOccurrence] {
        times.flatMap { occurrences(of: $0, after: start, through: end) }
    }

    func occurrences(of time: DayTime, after start: Timestamp, through end: Timestamp) -> [DigestOccurrence] {
        guard let schedule = time.schedule(in: zone) else { return [] }
        var found: [DigestOccurrence] = []
        var last = start - delay
        while let next = schedule.next(after: last), next + delay <= end {
            found.append(DigestOccurrence(digest: name, time: time, fireAt: next + delay))
            last = next
        }
        return found
    }
}

/// One time that a digest comes.
public struct DigestOccurrence: Sendable, Hashable {
    public let digest: DigestName
    /// `NAME/slot-08-00`: the same every day.
    public let slot: String
    public let fireAt: Timestamp

    public init(digest: DigestName, slot: String, fireAt: Timestamp) {
        self.digest = digest
        self.slot = slot
        self.fireAt = fireAt
    }

    init(digest: DigestName, time: DayTime, fireAt: Timestamp) {
        self.init(digest: digest, slot: Self.slot(digest, time), fireAt: fireAt)
    }

    /// One that somebody asked for, outside the digest's times. Its slot is `NAME/now`.
    public init(askedFor digest: DigestName, at time: Timestamp) {
        self.init(digest: digest, slot: "\(digest)/now", fireAt: time)
    }

    /// Whether it is one of the digest's times, and not asked for.
    public var isPlanned: Bool { slot != "\(digest)/now" }

    static func slot(_ digest: DigestName, _ time: DayTime) -> String { "\(digest)/\(time.slot)" }
}
