public import StarwatchCore

/// A digest: a notification at fixed times of the day, whose content is fetched shortly before.
public struct DigestOptions: Sendable, Hashable {
    /// A unique name, also among the polls.
    public var name: DigestName
    /// 1 to 24 times, each once.
    public var times: [DayTime] = []
    /// An IANA zone. `nil`, the default: the machine's zone, and the digest follows changes of it.
    public var timezone: String?
    /// Source of the content.
    public var content: ContentSource
    /// Range of the delay after each of ``times``, at most 1 h. The delay differs between installations and is the same
    /// every day. Zero, the default: no delay.
    public var window: Duration = .zero
    /// Time between the fetch and the scheduled time, 15 s to 1 h. By default 5 min.
    public var lead: Duration = .seconds(300)
    /// Maximum age of the content when it is shown, at most 14 days. `nil`, the default: the maximum age of content
    /// fetched for the previous occurrence, but at least 24 h.
    public var ttl: Duration?
    /// A template: `{{name}}` stands for the content's field. By default `Starwatch`.
    public var title = "Starwatch"
    /// A template, as ``title``. By default `Your daily update is ready`.
    public var body = "Your daily update is ready"
    /// The fixed text of `DigestFallback.fallback`. By default `Starwatch`.
    public var fallbackTitle = "Starwatch"
    /// The fixed text of `DigestFallback.fallback`. By default `Open the app for your daily update`.
    public var fallbackBody = "Open the app for your daily update"
    /// The moment when the text is armed. By default `prearmed`.
    public var mode = DigestMode.prearmed
    /// The content to show after a failed fetch. By default `cached`.
    public var onMissing = DigestFallback.cached
    /// The handling of empty content. By default `show`.
    public var onEmpty = EmptyContent.show
    /// The names of the digest's sinks. `nil`, the default: all.
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

    /// - Parameter poll: The poll whose changes since the previous time are the content.
    public init(name: DigestName, poll: PollName) {
        self.name = name
        content = .poll(poll)
    }

    /// ``ttl``, or its default: the longest time between two occurrences, plus the lead of the fetch.
    var longestAge: Duration { ttl ?? max(.seconds(86_400), longestGap) + lead + FetchOptions.longestFetch }

    /// Includes the hour by which clocks are set back.
    private var longestGap: Duration {
        let minutes = times.map { $0.hour * 60 + $0.minute }.sorted()
        guard let first = minutes.first else { return .zero }
        let gaps = zip(minutes, minutes.dropFirst() + [first + 24 * 60]).map { $1 - $0 }
        return .seconds(((gaps.max() ?? 0) + 60) * 60)
    }
}

/// Source of a digest's content.
public enum ContentSource: Sendable, Hashable {
    /// A request to a server.
    case request(FetchOptions)
    /// The host program's ``ContentFetcher`` of that name.
    case fetcher(String)
    /// A cycle of the agent's poll of that name, and all changes since the previous time: the fields `count`,
    /// `projects` and `names`.
    case poll(PollName)

    /// The request; `nil` for other sources.
    public var fetch: FetchOptions? { if case .request(let fetch) = self { fetch } else { nil } }

    /// The fetcher's name; `nil` for other sources.
    public var fetcherName: String? { if case .fetcher(let name) = self { name } else { nil } }

    /// The poll's name; `nil` for other sources.
    public var pollName: PollName? { if case .poll(let name) = self { name } else { nil } }
}

/// A request of a digest or a callback.
public struct FetchOptions: Sendable, Hashable {
    /// Maximum duration of a content fetch: 12 s.
    package static let longestFetch = Duration.seconds(12)

    /// HTTP method of the request.
    public enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case post = "POST"
    }

    /// The HTTP method. By default `GET`; callbacks always post.
    public var method = Method.get
    /// An http or https URL without credentials.
    public var url: String
    /// Headers, sent unchanged; empty by default. They must not contain credentials.
    public var headers: [String: String] = [:]
    /// The JSON body of a POST. `nil`, the default: none.
    public var body: String?
    /// A file of mode 0600 with a bearer token. `nil`, the default: none.
    public var tokenFile: String?
    /// Timeout of the whole request. `nil`, the default, means the maximum: 12 s for content, 8 s for a callback.
    public var timeout: Duration?

    public init(url: String) { self.url = url }
}

/// Callbacks that receive the results of digests. All are off by default.
public struct CallbackOptions: Sendable, Hashable {
    /// Receives an event for every digest that was shown.
    public var ackDelivery: FetchOptions?
    /// Receives an event for every digest that was not shown, except empty ones, and for every failed fetch.
    public var reportError: FetchOptions?
    /// Receives heartbeats of the agent, and changes of the digest configuration.
    public var heartbeat: FetchOptions?
    /// Interval of the heartbeats. By default 1 h.
    public var heartbeatInterval: Duration = .seconds(3600)

    public init() {}

    /// The receiver of events of a kind; `nil` if there is none, and such events are not stored.
    func receiver(of kind: CallbackKind) -> FetchOptions? {
        switch kind {
        case .delivery: ackDelivery
        case .error: reportError
        case .heartbeat, .configUpdated: heartbeat
        }
    }
}
