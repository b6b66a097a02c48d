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
    /// The pseudonym of one of many accounts, which its messages name; `nil` otherwise.
    private(set) var account: String?

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
    ///
    /// - Parameters:
    ///   - instance: Determines the delay; `nil` for none.
    ///   - account: The pseudonym of one of many accounts; `nil` for the active identity.
    func placed(for instance: String?, account: String?) -> Digest {
        var copy = self
        copy.delay = instance.map { Splay.delay(instance: $0, poll: PollName(name), within: options.window) } ?? .zero
        copy.account = account
        return copy
    }

    /// The time of the first fetch or occurrence after `now`, whatever the delay of an account; `nil` if there is none until
    /// `end`.
    func firstWork(after now: Timestamp, until end: Timestamp) -> Timestamp? {
        plan.occurrences(after: now - options.window, through: end + options.lead)
            .map { max($0.fireAt - options.lead, now) }.min()
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
        plan.fingerprint = account.map { [String(wording.fingerprint), $0].stableHash } ?? wording.fingerprint
        return plan
    }
}
