/// How the delivery of a slot stands.
public enum SlotStatus: String, Sendable, CaseIterable, Codable {
    case scheduled, shown
    /// Nothing was to be shown: its content is empty, and ``EmptyContent/skip`` says that none comes then.
    case skipped
    case skippedStale = "skipped_stale"
    case error
}

/// Why a slot was not shown, or not with new content; stored and reported as the error code.
public enum SlotCode: String, Sendable, CaseIterable, Codable {
    /// Its content was older than its time to live allows.
    case stale
    /// What was fetched for it has nothing in it.
    case empty
    /// There was nothing to show.
    case noContent = "no_content"
    /// The agent did not run at its time, nor shortly after.
    case missed
    /// The sinks could not be reached until the content was too old.
    case undelivered
    /// The sinks refused it.
    case rejected
    /// Every sink that it was for is gone.
    case noSink = "no_sink"
    /// The fetch before it failed; it may be shown all the same, with other content.
    case fetchFailed = "fetch_failed"
}

/// What a digest's text is made of.
public enum DigestText: Sendable, Hashable {
    /// Content that the server gave or confirmed for this occurrence; of that time.
    case fresh(Timestamp)
    /// Content of another occurrence, and since when it is known to hold: its text says so.
    case cached(Timestamp)
    /// The fixed text, which claims nothing.
    case fallback

    /// The case without its time, as stored and reported.
    public enum Kind: String, Sendable, CaseIterable {
        case fresh, cached, fallback
    }

    /// `nil` for content without a time.
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

    /// Since when the content is known to hold; `nil` for the fixed text.
    public var contentAt: Timestamp? {
        switch self {
        case .fresh(let time), .cached(let time): time
        case .fallback: nil
        }
    }
}

/// An occurrence as it is stored.
public struct DigestRow: Sendable, Hashable {
    /// How the one fetch before the occurrence stands.
    public enum Prefetch: String, Sendable, CaseIterable {
        case none, started, succeeded, failed
    }

    /// The text that is armed.
    public struct Arming: Sendable, Hashable {
        public var text: DigestText
        /// ``DigestPlan/fingerprint`` of the time when it was made.
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
    /// Whether the sinks have it, or are being given it.
    public var isFired: Bool

    public init(
        _ occurrence: DigestOccurrence,
        status: SlotStatus = .scheduled,
        arming: Arming? = nil,
        prefetch: Prefetch = .none,
        isFired: Bool = false
    ) {
        self.occurrence = occurrence
        self.status = status
        self.arming = arming
        self.prefetch = prefetch
        self.isFired = isFired
    }

    /// Whether it can still be armed, fired or dropped.
    var isOpen: Bool { status == .scheduled && !isFired }
}
