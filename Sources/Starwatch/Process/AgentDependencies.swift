package import Logging
package import ServiceLifecycle
package import StarwatchStore
package import StarwatchTransport

/// The parts that a program gives to its agent, besides the clock. A simulation provides its own network and disk.
package struct AgentDependencies: Sendable {
    /// The network transport; `nil` for libcurl.
    package var http: (any HTTPTransport)?
    /// Wraps the transport that the configuration makes.
    package var network: @Sendable (any HTTPTransport) -> any HTTPTransport = { $0 }
    /// Changes the options with which the database is opened.
    package var store: @Sendable (inout StoreOptions) -> Void = { _ in }

    /// Whether the agent writes a black box beside the database. A simulation, whose disk is in memory, has none.
    package var keepsBlackBox = true

    /// The only event that standard error gets; `nil` for all.
    package var loggedEvent: AgentEvent?

    /// The host program's sinks, besides the configured ones.
    package var sinks: [any HostSink] = []
    /// The host program's fetchers of digest content.
    package var fetchers: [any ContentFetcher] = []
    /// The agent's servers.
    package var servers = AgentServers.none

    /// Metrics of other libraries for the `/metrics` page.
    package var libraryMetrics = DependencyMetrics()
    /// Names what a reload changes; `nil` for the names of the properties.
    package var settings: AgentSettings?

    package init() {}

    /// The parts of an agent with the real network and disk, which checks a large database while it runs.
    package static func real(_ servers: AgentServers, _ libraryMetrics: DependencyMetrics) -> AgentDependencies {
        var parts = AgentDependencies()
        parts.libraryMetrics = libraryMetrics
        parts.servers = servers
        parts.store = { $0.checksLater = true }
        return parts
    }
}

/// The HTTP servers for scrapes and control.
///
/// The module StarwatchHTTP provides `AgentServers.http`. An agent with ``none`` polls and delivers, but has no metrics
/// page, no status page and no control API.
public struct AgentServers: Sendable {
    /// The servers of one run.
    package struct Run: Sendable {
        /// The servers in their start order.
        package var services: [any Service] = []
        /// Waits until the metrics page is available, and returns its address; `nil` if it cannot become available.
        package var metricsAddress: @Sendable () async -> String? = { nil }

        package init() {}
    }

    /// Makes the servers for a run of the agent. They listen once they run.
    package var make:
        @Sendable (_ agent: AgentTopics, _ options: AgentOptions, _ logger: Logger) throws(AgentError) -> Run
    /// Throws if servers with the `next` options could not listen. The `current` servers still listen meanwhile.
    package var check: @Sendable (_ next: AgentOptions, _ current: AgentOptions) async throws(AgentError) -> Void

    package init(
        make: @escaping @Sendable (AgentTopics, AgentOptions, Logger) throws(AgentError) -> Run,
        check: @escaping @Sendable (AgentOptions, AgentOptions) async throws(AgentError) -> Void
    ) {
        self.make = make
        self.check = check
    }

    /// No servers.
    public static let none = AgentServers(
        make: { _, _, _ throws(AgentError) in Run() },
        check: { _, _ throws(AgentError) in }
    )
}
