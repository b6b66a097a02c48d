import StarwatchPolling

/// The settings of a server.
package struct ServerSettings: Sendable {
    /// The URL of the dashboards, which the pages link to.
    package var dashboards: String?
    /// The names that `Host` can contain, besides addresses and `localhost`.
    package var allowedHosts: [String]
    /// The web configuration of the server's port; `nil` for clear text without passwords.
    package var security: PortSecurity?
    /// A monotonic time.
    package var now: @Sendable () -> Duration

    package init(
        dashboards: String? = nil,
        allowedHosts: [String] = [],
        security: PortSecurity? = nil,
        now: @escaping @Sendable () -> Duration = { SystemClock().monotonic }
    ) {
        self.dashboards = dashboards
        self.allowedHosts = allowedHosts
        self.security = security
        self.now = now
    }
}

extension ServerSettings {
    /// The check of the users' passwords; `nil` without a web configuration, which is the only place for users.
    func passwords() -> AccessPolicy? {
        guard let security else { return nil }
        return AccessPolicy(.password(PasswordCheck(), users: { security.active.configuration.users }), now: now)
    }
}
