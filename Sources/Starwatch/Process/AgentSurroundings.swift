package import StarwatchStore
package import StarwatchTransport

/// What an agent gets from outside beside its clock. A simulation gives one its own network and disk.
package struct AgentSurroundings: Sendable {
    /// The way out; `nil`: libcurl.
    package var http: (any HTTPTransport)?
    /// Has the last word on how the database is opened.
    package var store: @Sendable (inout StoreOptions) -> Void = { _ in }

    /// Sinks of the host program's own, beside the configured ones.
    package var sinks: [any HostSink] = []
    /// What fetches the content of digests in the host program.
    package var fetchers: [any ContentFetcher] = []
    /// The agent's servers.
    package var servers = AgentServers.none

    /// Metrics of other libraries for the `/metrics` page.
    package var dependencies = DependencyMetrics()

    package init() {}
}
