/// The moment when the text of a digest is armed.
public enum DigestMode: String, Sendable, CaseIterable {
    /// A day ahead with the stored content, and again when the fetch brings new content.
    case prearmed
    /// When the fetch of the occurrence has ended, successful or not.
    case chained
}

/// The content to show when the fetch of an occurrence failed.
public enum DigestFallback: String, Sendable, CaseIterable {
    /// Earlier content while it is recent enough; otherwise nothing.
    case cached
    /// Earlier content while it is recent enough; otherwise a fixed text.
    case fallback
    /// Nothing.
    case skip
}

/// The treatment of empty content (``DigestContent/isEmpty``).
public enum EmptyContent: String, Sendable, CaseIterable {
    /// Shown like any other content.
    case show
    /// Treated as missing. If it was fetched for the occurrence, nothing is shown.
    case skip
}

/// The plan of a digest: its times, its zone and the rules for its content.
public struct DigestPlan: Sendable {
    public var name: DigestName
    public var times: [DayTime]
    public var zone: any TimeZoneRules
    /// The delay after each of ``times``, from ``Splay``; the same every day.
    public var delay = Duration.zero
    /// The time between the fetch and the occurrence.
    public var lead: Duration
    /// The longest age of content when it is shown.
    public var ttl: Duration
    public var mode: DigestMode
    public var onMissing: DigestFallback
    public var onEmpty = EmptyContent.show
    /// Hash of all settings that affect the texts. When it changes, the texts are rendered again.
    public var fingerprint: Int64 = 0

    public init(
        name: DigestName,
        times: [DayTime],
        zone: any TimeZoneRules,
        lead: Duration,
        ttl: Duration,
        mode: DigestMode,
        onMissing: DigestFallback
    ) {
        (self.name, self.times, self.zone, self.lead) = (name, times, zone, lead)
        (self.ttl, self.mode, self.onMissing) = (ttl, mode, onMissing)
    }

    /// The occurrences in `(start, end]`, by slot and then by time.
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

/// One scheduled time of a digest.
public struct DigestOccurrence: Sendable, Hashable {
    public let digest: DigestName
    /// `NAME/slot-08-00`: the same every day.
    public let slot: String
    public let fireAt: Timestamp

    public init(digest: DigestName, slot: String, fireAt: Timestamp) {
        (self.digest, self.slot, self.fireAt) = (digest, slot, fireAt)
    }

    init(digest: DigestName, time: DayTime, fireAt: Timestamp) {
        self.init(digest: digest, slot: Self.slot(digest, time), fireAt: fireAt)
    }

    /// An occurrence on request, outside the digest's times. Its slot is `NAME/now`.
    public init(askedFor digest: DigestName, at time: Timestamp) {
        self.init(digest: digest, slot: "\(digest)/now", fireAt: time)
    }

    /// Whether it belongs to the digest's times, as opposed to a request.
    public var isPlanned: Bool { slot != "\(digest)/now" }

    static func slot(_ digest: DigestName, _ time: DayTime) -> String { "\(digest)/\(time.slot)" }
}
