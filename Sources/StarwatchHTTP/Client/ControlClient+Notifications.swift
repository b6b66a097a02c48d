import NIOHTTP1
package import Starwatch
package import StarwatchCore

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
