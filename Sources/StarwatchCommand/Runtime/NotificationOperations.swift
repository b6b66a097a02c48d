import Starwatch
import StarwatchCore
import StarwatchHTTP

/// What commands ask about notifications.
protocol NotificationOperations: Sendable {
    func notificationList(_ query: NotificationQuery) async throws(CommandError) -> [NotificationEntry]
    func notificationShow(_ id: String) async throws(CommandError) -> NotificationEntry
    func notificationAct(_ id: String, _ action: NotificationAction) async throws(CommandError) -> ActionReport
    func shortlinkShow(_ shortlink: Shortlink) async throws(CommandError) -> ShortlinkReport
}

extension ForegroundAgent {
    func notificationList(_ query: NotificationQuery) async throws(CommandError) -> [NotificationEntry] {
        try await ask { agent throws(ControlError) in try await agent.notificationList(query) }
    }

    func notificationShow(_ id: String) async throws(CommandError) -> NotificationEntry {
        try await ask { agent throws(ControlError) in try await agent.notificationShow(id) }
    }

    func notificationAct(_ id: String, _ action: NotificationAction) async throws(CommandError) -> ActionReport {
        try await ask { agent throws(ControlError) in try await agent.notificationAct(id, action) }
    }

    func shortlinkShow(_ shortlink: Shortlink) async throws(CommandError) -> ShortlinkReport {
        try await ask { agent throws(ControlError) in try await agent.shortlinkShow(shortlink) }
    }
}

extension RunningAgent {
    func notificationList(_ query: NotificationQuery) async throws(CommandError) -> [NotificationEntry] {
        try await ask { client throws(ControlClientError) in try await client.notificationList(query) }
    }

    func notificationShow(_ id: String) async throws(CommandError) -> NotificationEntry {
        try await ask { client throws(ControlClientError) in try await client.notificationShow(id) }
    }

    func notificationAct(_ id: String, _ action: NotificationAction) async throws(CommandError) -> ActionReport {
        try await ask { client throws(ControlClientError) in try await client.notificationAct(id, action) }
    }

    func shortlinkShow(_ shortlink: Shortlink) async throws(CommandError) -> ShortlinkReport {
        try await ask { client throws(ControlClientError) in try await client.shortlinkShow(shortlink) }
    }
}
