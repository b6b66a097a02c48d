public import StarwatchCore
import Synchronization

/// Handlers of a host application for user actions on a notification. The defaults do nothing.
///
/// The agent calls a handler once for each new action, after storing it. If the process ends in between, the call is
/// not repeated. ``Agent``'s database records the action.
public protocol NotificationActions: Sendable {
    /// The user wants to see these updates.
    func onViewUpdates(jwtIds: [String]) async
    /// The user wants to see a project, at one of its claims.
    func onViewProject(projectId: String, jwtId: String) async
    func onDismiss(notificationId: String) async
    /// The agent delivers the notification again after `duration`.
    func onSnooze(notificationId: String, duration: Duration) async
    func onMarkRead(jwtIds: [String]) async
    /// The user refreshed the data of a stale poll. The agent has run the poll. Called each time.
    func onRefresh(poll: PollName) async
    /// The user wants to see the settings of notifications. Called each time.
    func onSettings(notificationId: String) async
}

extension NotificationActions {
    public func onViewUpdates(jwtIds: [String]) async {}
    public func onViewProject(projectId: String, jwtId: String) async {}
    public func onDismiss(notificationId: String) async {}
    public func onSnooze(notificationId: String, duration: Duration) async {}
    public func onMarkRead(jwtIds: [String]) async {}
    public func onRefresh(poll: PollName) async {}
    public func onSettings(notificationId: String) async {}
}

/// The host program's handler of actions, which it can set while the agent runs.
final class ActionHandler: Sendable {
    private let current = Mutex<(any NotificationActions)?>(nil)

    var actions: (any NotificationActions)? {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }
}
