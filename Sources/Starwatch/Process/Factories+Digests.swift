import StarwatchCore
import StarwatchTransport

extension Factories {
    static let mostDigests = 16

    func digests(_ dependencies: AgentDependencies) throws(AgentError) -> [Digest] {
        let fetchers = Dictionary(dependencies.fetchers.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        guard fetchers.count == dependencies.fetchers.count else {
            throw AgentError(.configuration, "Two of the program's fetchers have the same name; give each its own.")
        }
        guard options.digests.count <= Self.mostDigests else {
            throw AgentError(.configuration, "digests must be at most \(Self.mostDigests).")
        }
        var names = Set(options.polls.map(\.name))
        let sinks = Set(options.delivery.sinks.map(\.name) + dependencies.sinks.map(\.name))
        var digests: [Digest] = []
        for digest in options.digests {
            let path = "digests.\(digest.name)"
            guard names.insert(PollName(digest.name)).inserted else {
                throw AgentError(
                    .configuration,
                    "\(path) has the name of another digest or of a poll; choose one of its own."
                )
            }
            guard !digest.times.isEmpty, Set(digest.times).count == digest.times.count else {
                throw AgentError(.configuration, "\(path).times must name at least one time of the day, and each once.")
            }
            guard Set(digest.sinks ?? []).isSubset(of: sinks), digest.sinks?.isEmpty != true else {
                throw AgentError(.configuration, "\(path).sinks must name sinks of delivery.sinks.")
            }
            let zone: @Sendable () -> any TimeZoneRules
            if let name = digest.timezone {
                guard let known = FoundationTimeZone(identifier: name) else {
                    throw AgentError(
                        .configuration,
                        "\(path).timezone is not a known IANA zone, such as Europe/Zurich."
                    )
                }
                zone = { known }
            } else {
                let local = LocalZone()
                zone = { local.current }
            }
            switch digest.content {
            case .request(let fetch):
                digests.append(Digest(digest, token: try token(of: fetch, "\(path).fetch"), zone: zone))
            case .fetcher(let name):
                guard let fetcher = fetchers[name] else {
                    throw AgentError(.configuration, "\(path) names a fetcher that the program does not have.")
                }
                digests.append(Digest(digest, token: nil, fetcher: fetcher, zone: zone))
            case .poll(let name):
                guard options.polls.contains(where: { $0.name == name }) else {
                    throw AgentError(.configuration, "\(path).poll must name one of polls.")
                }
                digests.append(Digest(digest, token: nil, zone: zone))
            }
        }
        return digests
    }

    /// Receivers of events. Those with the same request share one receiver.
    func callbacks() throws(AgentError) -> [CallbackReceiver] {
        let callbacks = options.callbacks
        let all: [(Set<CallbackKind>, FetchOptions?, String)] = [
            ([.delivery], callbacks.ackDelivery, "ack_delivery"), ([.error], callbacks.reportError, "report_error"),
            ([.heartbeat, .configUpdated], callbacks.heartbeat, "heartbeat"),
        ]
        var receivers: [CallbackReceiver] = []
        for (kinds, fetch, name) in all {
            guard let fetch else { continue }
            receivers.append(
                CallbackReceiver(
                    kinds: kinds,
                    options: fetch,
                    token: try token(of: fetch, "callbacks.\(name)"),
                    http: http
                )
            )
        }
        return receivers
    }

    private func token(of fetch: FetchOptions, _ section: String) throws(AgentError) -> SecretFile? {
        guard let path = fetch.tokenFile else { return nil }
        return try secret(path, "\(section).token_file")
    }
}
