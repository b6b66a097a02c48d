package import StarwatchCore
import StarwatchStore
package import StarwatchTransport

/// A digest as it is run: its options, and what follows from them.
package struct Digest: Sendable {
    package let options: DigestOptions
    package let wording: DigestWording
    /// Stands for the request: digests with the same one share what was fetched (C-169). A fetcher of the host's may
    /// answer each digest differently.
    package let source: String
    /// The token of its requests; `nil` for none.
    let token: SecretFile?
    /// What fetches its content in place of a request; `nil`: nothing.
    let fetcher: (any ContentFetcher)?
    private let zone: @Sendable () -> any TimeZoneRules
    /// How long after its times it comes.
    private var delay = Duration.zero

    package init(
        _ options: DigestOptions,
        token: SecretFile?,
        fetcher: (any ContentFetcher)? = nil,
        zone: @escaping @Sendable () -> any TimeZoneRules
    ) {
        self.options = options
        self.token = token
        self.fetcher = fetcher
        self.zone = zone
        wording = DigestWording(
            title: options.title,
            body: options.body,
            fallbackTitle: options.fallbackTitle,
            fallbackBody: options.fallbackBody
        )
        let parts =
            switch options.content {
            case .request(let fetch): [fetch.method.rawValue, fetch.url, fetch.body ?? ""]
            case .fetcher(let name): ["fetcher", name, options.name.rawValue]
            // What is of the time before depends on the digest's own times.
            case .poll(let name): ["poll", name.rawValue, options.name.rawValue]
            }
        source = ContentHash.text(parts.joined(separator: "\n"))
    }

    package var name: DigestName { options.name }

    /// The same digest at its moment within ``DigestOptions/window``.
    func placed(for instance: String) -> Digest {
        var copy = self
        copy.delay = Splay.delay(instance: instance, poll: PollName(name), within: options.window)
        return copy
    }

    /// From when on changes belong to the occurrence at `fireAt` when none before it has listed any.
    func beginning(of fireAt: Timestamp) -> Timestamp {
        let before = plan.occurrences(after: fireAt - .days(2), through: fireAt - .milliseconds(1)).map(\.fireAt).max()
        return (before ?? fireAt - .days(1)) - options.lead
    }

    /// What decides, in the zone as it is now.
    package var plan: DigestPlan {
        var plan = DigestPlan(
            name: options.name,
            times: options.times,
            zone: zone(),
            lead: options.lead,
            ttl: options.longestAge,
            mode: options.mode,
            onMissing: options.onMissing
        )
        plan.delay = delay
        plan.onEmpty = options.onEmpty
        plan.fingerprint = wording.fingerprint
        return plan
    }
}
