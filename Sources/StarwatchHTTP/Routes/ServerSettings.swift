import StarwatchPolling

/// The settings that all servers share.
package struct ServerSettings: Sendable {
    /// The URL of the dashboards, which the pages link to.
    package var dashboards: String?
    /// The names that `Host` can contain, besides addresses and `localhost`.
    package var allowedHosts: [String]
    /// A monotonic time.
    package var now: @Sendable () -> Duration

    package init(
        dashboards: String? = nil,
        allowedHosts: [String] = [],
        now: @escaping @Sendable () -> Duration = { SystemClock().monotonic }
    ) {
        self.dashboards = dashboards
        self.allowedHosts = allowedHosts
        self.now = now
    }
}
