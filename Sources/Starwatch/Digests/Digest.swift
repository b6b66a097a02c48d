package import StarwatchCore
package import StarwatchTransport

/// A digest as it is run: its options, and what follows from them.
package struct Digest: Sendable {
    package let options: DigestOptions
    package let wording: DigestWording
    /// Stands for the request: digests with the same one share what was fetched (C-169).
    package let source: String
    /// The token of its requests; `nil` for none.
    let token: SecretFile?
    private let zone: @Sendable () -> any TimeZoneRules

    package init(
        _ options: DigestOptions,
        token: SecretFile?,
        zone: @escaping @Sendable () -> any TimeZoneRules
    ) {
        self.options = options
        self.token = token
        self.zone = zone
        wording = DigestWording(
            title: options.title,
            body: options.body,
            fallbackTitle: options.fallbackTitle,
            fallbackBody: options.fallbackBody
        )
        source = ContentHash.text(
            [options.fetch.method.rawValue, options.fetch.url, options.fetch.body ?? ""].joined(separator: "\n")
        )
    }

    package var name: PollName { options.name }

    /// What decides, in the zone as it is now.
    package var plan: DigestPlan {
        DigestPlan(
            name: options.name,
            times: options.times,
            zone: zone(),
            lead: options.lead,
            ttl: options.longestAge,
            mode: options.mode,
            onMissing: options.onMissing,
            fingerprint: wording.fingerprint
        )
    }
}
