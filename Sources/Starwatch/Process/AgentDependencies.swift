package import StarwatchStore
package import StarwatchTransport

/// The agent's environment, besides the clock. A simulation provides its own network and disk.
package struct AgentDependencies: Sendable {
    /// The network transport; `nil` for libcurl.
    package var http: (any HTTPTransport)?
    /// Changes the options with which the database is opened.
    package var store: @Sendable (inout StoreOptions) -> Void = { _ in }

    /// The host program's sinks, besides the configured ones.
    package var sinks: [any HostSink] = []
    /// The host program's fetchers of digest content.
    package var fetchers: [any ContentFetcher] = []
    /// The agent's servers.
    package var servers = AgentServers.none

    /// Metrics of other libraries for the `/metrics` page.
    package var libraryMetrics = DependencyMetrics()

    package init() {}
}
