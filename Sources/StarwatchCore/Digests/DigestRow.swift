/// The status of an occurrence.
public enum SlotStatus: String, Sendable, CaseIterable, Codable {
    case scheduled, shown
    /// Nothing to show: the content is empty and ``EmptyContent/skip`` applies.
    case skipped
    case skippedStale = "skipped_stale"
    case error
}

/// The reason why an occurrence was not shown, or was shown with other content; the stored and reported error code.
public enum SlotCode: String, Sendable, CaseIterable, Codable {
    /// The content was older than its time to live.
    case stale
    /// The content fetched for it is empty.
    case empty
    /// No content was available.
    case noContent = "no_content"
    /// The agent did not run at its time or shortly after.
    case missed
    /// The sinks were unavailable until the content was too old.
    case undelivered
    /// The sinks rejected it.
    case rejected
    /// Every sink of the digest is gone.
    case noSink = "no_sink"
    /// The fetch failed. The occurrence can still be shown with other content.
    case fetchFailed = "fetch_failed"
}

/// The origin of a digest's text.
public enum DigestText: Sendable, Hashable {
    /// Content that the server sent or confirmed for this occurrence, with that time.
    case fresh(Timestamp)
    /// Content of another occurrence, with its time, which the text mentions.
    case cached(Timestamp)
    /// The fixed text, without content.
    case fallback

    /// The case without its time, as stored and reported.
    public enum Kind: String, Sendable, CaseIterable { case fresh, cached, fallback }

    /// `nil` for `fresh` or `cached` without a time.
    public init?(_ kind: Kind, contentAt time: Timestamp?) {
        switch (kind, time) {
        case (.fresh, let time?): self = .fresh(time)
        case (.cached, let time?): self = .cached(time)
        case (.fallback, _): self = .fallback
        case (.fresh, nil), (.cached, nil): return nil
        }
    }

    public var kind: Kind {
        switch self {
        case .fresh: .fresh
        case .cached: .cached
        case .fallback: .fallback
        }
    }

    /// The time of the content; `nil` for the fixed text.
    public var contentAt: Timestamp? {
        switch self {
        case .fresh(let time), .cached(let time): time
        case .fallback: nil
        }
    }
}

/// A stored occurrence.
public struct DigestRow: Sendable, Hashable {
    /// The state of the occurrence's single fetch.
    public enum Prefetch: String, Sendable, CaseIterable { case none, started, succeeded, failed }

    /// The armed text.
    public struct Arming: Sendable, Hashable {
        public var text: DigestText
        /// ``DigestPlan/fingerprint`` at the time of rendering.
        public var fingerprint: Int64

        public init(text: DigestText, fingerprint: Int64) {
            self.text = text
            self.fingerprint = fingerprint
        }
    }

    public var occurrence: DigestOccurrence
    public var status: SlotStatus
    public var arming: Arming?
    public var prefetch: Prefetch
    /// Whether the occurrence was handed to the sinks.
    public var isFired: Bool

    public init(
        _ occurrence: DigestOccurrence,
        status: SlotStatus = .scheduled,
        arming: Arming? = nil,
        prefetch: Prefetch = .none,
        isFired: Bool = false
    ) {
        (self.occurrence, self.status, self.arming, self.prefetch) = (occurrence, status, arming, prefetch)
        self.isFired = isFired
    }

    /// Whether it can still be armed, fired or dropped.
    var isOpen: Bool { status == .scheduled && !isFired }
}
