package import StarwatchCore

/// The optional features whose metrics are on the page. The metrics of the others exist, but are not shown.
package struct MetricFeatures: Sendable, Hashable {
    package var endpoints: Set<Endpoint>
    package var clockSources: Set<ClockSource>
    package var controlOperations: Set<ControlOperation>
    package var hasDigests: Bool
    package var hasCallbacks: Bool
    package var hasHostPolls: Bool

    /// All features, as the catalogue lists them.
    package static let all = MetricFeatures(
        endpoints: Set(Endpoint.allCases),
        clockSources: Set(ClockSource.allCases),
        controlOperations: Set(ControlOperation.allCases),
        hasDigests: true,
        hasCallbacks: true,
        hasHostPolls: true
    )
}

extension MetricFeatures {
    /// The features of a configuration. The polls of a host program appear at their first use.
    package init(_ options: AgentOptions) {
        let kinds = Set(options.polls.map(\.kind))
        endpoints = [.time]
        if kinds.contains(.starredProjects) { endpoints.formUnion([.plansChanged, .acknowledge]) }
        if kinds.contains(.offersToMe) { endpoints.insert(.offersToMe) }
        if kinds.contains(.offersToMyProjects) { endpoints.insert(.offersToMyProjects) }
        clockSources = options.clock.source == .ntp ? Set(ClockSource.allCases) : [.timeEndpoint, .dateHeader]
        hasDigests = !options.digests.isEmpty
        controlOperations = Set(ControlOperation.allCases)
        if !hasDigests { controlOperations.subtract([.digestsList, .digestsFetch, .digestsShow]) }
        if !options.delivery.sinks.contains(where: { if case .feed = $0.kind { true } else { false } }) {
            controlOperations.subtract([.notificationsList, .notificationsFollow])
        }
        hasCallbacks = CallbackKind.allCases.contains { options.callbacks.receiver(of: $0) != nil }
        hasHostPolls = false
    }
}
