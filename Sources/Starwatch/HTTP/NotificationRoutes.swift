import NIOHTTP1
package import StarwatchCore

extension ControlRoutes {
    /// What was sent and what a person did with it, and shortlinks.
    var notifications: [Route] {
        [
            Route("/api/v1/notifications/sent", sent),
            Route("/api/v1/notifications/{id}") { show($0[0]) },
            Route("/api/v1/notifications/{id}/actions/{action}") { act($0[0], $0[1]) },
            Route("/api/v1/shortlinks/{id}") { shortlink($0[0]) },
        ]
    }

    private var sent: Handlers {
        [
            "GET": { call throws(ControlError) in
                let parameters = try Parameters(call, allowing: ["limit", "before"])
                var query = NotificationQuery()
                query.before = try parameters.number("before")
                query.limit = try parameters.number("limit").map { Int($0) } ?? query.limit
                return .json(NotificationListing(notifications: try await agent.notificationList(query)))
            }
        ]
    }

    private func show(_ id: String) -> Handlers {
        ["GET": { _ throws(ControlError) in .json(try await agent.notificationShow(id)) }]
    }

    private func act(_ id: String, _ name: String) -> Handlers {
        [
            "POST": { _ throws(ControlError) in
                guard let action = NotificationAction(rawValue: name) else {
                    let names = NotificationAction.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ControlError(.invalid, "There is no such action; use one of \(names).")
                }
                return .json(try await agent.notificationAct(id, action))
            }
        ]
    }

    private func shortlink(_ text: String) -> Handlers {
        [
            "GET": { _ throws(ControlError) in
                guard let shortlink = Shortlink(text) else {
                    throw ControlError(.invalid, "A shortlink is 1 to 64 letters, digits, - and _.")
                }
                return .json(try await agent.shortlinkShow(shortlink))
            }
        ]
    }
}

extension ControlClient {
    /// The newest first.
    package func notificationList(
        _ query: NotificationQuery
    ) async throws(ControlClientError) -> [NotificationEntry] {
        let before = query.before.map { "&before=\($0)" } ?? ""
        let target = "/api/v1/notifications/sent?limit=\(query.limit)\(before)"
        return try await call(.GET, target, as: NotificationListing.self).notifications
    }

    package func notificationShow(_ id: String) async throws(ControlClientError) -> NotificationEntry {
        try await call(.GET, "/api/v1/notifications/\(Self.escape(id))")
    }

    package func notificationAct(
        _ id: String,
        _ action: NotificationAction
    ) async throws(ControlClientError) -> ActionReport {
        try await call(.POST, "/api/v1/notifications/\(Self.escape(id))/actions/\(action.rawValue)")
    }

    package func shortlinkShow(_ shortlink: Shortlink) async throws(ControlClientError) -> ShortlinkReport {
        try await call(.GET, "/api/v1/shortlinks/\(shortlink.rawValue)")
    }
}
