/// What a host application does when a person acts on a notification (R-NOT-10). Each has a default that does nothing.
///
/// Called once for each action that was not done before, after it was stored. A process that ends in between does not
/// make up for the call: what was done is in ``Agent``'s database.
public protocol NotificationActions: Sendable {
    /// The person wants to see these updates.
    func onViewUpdates(jwtIds: [String]) async
    /// The person wants to see a project, at one of its claims.
    func onViewProject(projectId: String, jwtId: String) async
    func onDismiss(notificationId: String) async
    /// The agent delivers the notification again after `duration`.
    func onSnooze(notificationId: String, duration: Duration) async
    func onMarkRead(jwtIds: [String]) async
}

extension NotificationActions {
    public func onViewUpdates(jwtIds: [String]) async {}
    public func onViewProject(projectId: String, jwtId: String) async {}
    public func onDismiss(notificationId: String) async {}
    public func onSnooze(notificationId: String, duration: Duration) async {}
    public func onMarkRead(jwtIds: [String]) async {}
}
