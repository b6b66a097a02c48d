package import StarwatchCore
import StarwatchStore
package import StarwatchTransport

/// A running digest: its options, and the values derived from them.
package struct Digest: Sendable {
    package let options: DigestOptions
    package let wording: DigestWording
    /// A key of the request. Digests with the same key share the fetched content. A host's fetcher can answer
    /// each digest differently.
    package let source: String
    /// The token of its requests; `nil` if there is none.
    let token: SecretFile?
    /// The fetcher that replaces the request; `nil` if there is none.
    let fetcher: (any ContentFetcher)?
    private let zone: @Sendable () -> any TimeZoneRules
    /// Delay of the digest after its scheduled times.
    private var delay = Duration.zero

    package init(
        _ options: DigestOptions,
        token: SecretFile?,
        fetcher: (any ContentFetcher)? = nil,
        zone: @escaping @Sendable () -> any TimeZoneRules
    ) {
        (self.options, self.token, self.fetcher, self.zone) = (options, token, fetcher, zone)
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
            // The changes since the previous time depend on the digest's own times.
            case .poll(let name): ["poll", name.rawValue, options.name.rawValue]
            }
        source = ContentHash.text(parts.joined(separator: "\n"))
    }

    package var name: DigestName { options.name }

    /// The digest with its delay within ``DigestOptions/window``.
    func placed(for instance: String) -> Digest {
        var copy = self
        copy.delay = Splay.delay(instance: instance, poll: PollName(name), within: options.window)
        return copy
    }

    /// The start of the changes for the occurrence at `fireAt`, if no earlier occurrence has listed any.
    func beginning(of fireAt: Timestamp) -> Timestamp {
        let before = plan.occurrences(after: fireAt - .days(2), through: fireAt - .milliseconds(1)).map(\.fireAt).max()
        return (before ?? fireAt - .days(1)) - options.lead
    }

    /// The digest's plan, in the present time zone.
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
