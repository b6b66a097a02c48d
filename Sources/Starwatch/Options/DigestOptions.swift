public import StarwatchCore

/// A digest: a notification at fixed times of the day, of content that is fetched a little before.
public struct DigestOptions: Sendable, Hashable {
    /// Unique, also among the polls.
    public var name: DigestName
    /// At least one, at most 24, each once.
    public var times: [DayTime] = []
    /// An IANA zone. `nil`, the default: the machine's, also when it changes.
    public var timezone: String?
    /// Where its content comes from.
    public var content: ContentSource
    /// It comes within this time after each of ``times``, at most 1 h: at a moment that differs from one installation to
    /// the next, and is the same every day. Zero, the default: at the time (R-SCH-20).
    public var window: Duration = .zero
    /// How long before its time it is fetched, 15 s to 1 h. By default 5 min.
    public var lead: Duration = .seconds(300)
    /// How old content may be at the time it is shown, at most 14 days. `nil`, the default: as old as what was fetched
    /// for the occurrence before can be, of 24 h at least.
    public var ttl: Duration?
    /// A template: `{{name}}` is the field of the content. By default `TimeSafari`.
    public var title = "TimeSafari"
    /// As ``title``. By default `Your daily update is ready`.
    public var body = "Your daily update is ready"
    /// The fixed text of ``DigestFallback/fallback``. By default `TimeSafari`.
    public var fallbackTitle = "TimeSafari"
    /// By default `Open the app for your daily update`.
    public var fallbackBody = "Open the app for your daily update"
    /// By default `prearmed`.
    public var mode = DigestMode.prearmed
    /// By default `cached`.
    public var onMissing = DigestFallback.cached
    /// By default `show`.
    public var onEmpty = EmptyContent.show
    /// The names of the sinks it goes to. `nil`, the default: all.
    public var sinks: [String]?

    /// - Parameter fetch: The request for its content.
    public init(name: DigestName, fetch: FetchOptions) {
        self.name = name
        content = .request(fetch)
    }

    /// - Parameter fetcher: The name of the host program's ``ContentFetcher``.
    public init(name: DigestName, fetcher: String) {
        self.name = name
        content = .fetcher(fetcher)
    }

    /// - Parameter poll: The poll whose changes since the time before are the content (R-DUAL-06).
    public init(name: DigestName, poll: PollName) {
        self.name = name
        content = .poll(poll)
    }

    /// ``ttl``, or what stands for it: the longest time between two occurrences, and how long before one it is fetched.
    var longestAge: Duration { ttl ?? max(.seconds(86_400), longestGap) + lead + FetchOptions.longestFetch }

    /// With the hour by which clocks are set back.
    private var longestGap: Duration {
        let minutes = times.map { $0.hour * 60 + $0.minute }.sorted()
        guard let first = minutes.first else { return .zero }
        let gaps = zip(minutes, minutes.dropFirst() + [first + 24 * 60]).map { $1 - $0 }
        return .seconds(((gaps.max() ?? 0) + 60) * 60)
    }
}

/// Where a digest's content comes from.
public enum ContentSource: Sendable, Hashable {
    /// A request to a server.
    case request(FetchOptions)
    /// The ``ContentFetcher`` of that name, of the host program.
    case fetcher(String)
    /// A cycle of the agent's poll of that name, and what it and those before have found since the time before: the
    /// fields `count`, `projects` and `names`.
    case poll(PollName)

    /// `nil` unless it is a request.
    public var fetch: FetchOptions? {
        if case .request(let fetch) = self { fetch } else { nil }
    }

    /// `nil` unless it is a fetcher.
    public var fetcherName: String? {
        if case .fetcher(let name) = self { name } else { nil }
    }

    /// `nil` unless it is a poll.
    public var pollName: PollName? {
        if case .poll(let name) = self { name } else { nil }
    }
}

/// A request of a digest or a callback.
public struct FetchOptions: Sendable, Hashable {
    /// The longest fetch of a digest's content (R-SCH-13): 12 s.
    package static let longestFetch = Duration.seconds(12)


    /// How it is asked.
    public enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case post = "POST"
    }

    /// By default `GET`; callbacks always post.
    public var method = Method.get
    /// http or https, without credentials.
    public var url: String
    /// Sent as they are; empty by default. Credentials do not belong here.
    public var headers: [String: String] = [:]
    /// JSON to post. `nil`, the default: none.
    public var body: String?
    /// A file of mode 0600 that holds a bearer token. `nil`, the default: none.
    public var tokenFile: String?
    /// Of the whole request. `nil`, the default, and at most: 12 s for content, 8 s for a callback (C-080).
    public var timeout: Duration?

    public init(url: String) { self.url = url }
}

/// Who is told how the digests fare. All off by default.
public struct CallbackOptions: Sendable, Hashable {
    /// Told of every digest that was shown.
    public var ackDelivery: FetchOptions?
    /// Told of every digest that was not shown, but for empty ones, and of every fetch that failed.
    public var reportError: FetchOptions?
    /// Told that the agent runs, and of a changed configuration of the digests.
    public var heartbeat: FetchOptions?
    /// How often. By default 1 h (C-231).
    public var heartbeatInterval: Duration = .seconds(3600)

    public init() {}

    /// Who is told of events of a kind; `nil`: nobody, and they are not kept.
    func receiver(of kind: CallbackKind) -> FetchOptions? {
        switch kind {
        case .delivery: ackDelivery
        case .error: reportError
        case .heartbeat, .configUpdated: heartbeat
        }
    }

    /// Whether anybody is told of anything.
    var isEmpty: Bool { ackDelivery == nil && reportError == nil && heartbeat == nil }
}
