import Starwatch
import StarwatchCore

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
