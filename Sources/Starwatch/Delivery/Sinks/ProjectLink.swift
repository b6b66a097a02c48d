import StarwatchCore

/// The link of a notification that a browser opens.
enum ProjectLink {
    /// The address of the only project; `nil` if it has none. It needs no escape in any format.
    static func address(of message: NotificationMessage) -> String? {
        guard message.count == 1, let plan = message.changes.first?.plan, plan.utf8.count <= 1000,
            plan.wholeMatch(of: /https:\/\/[A-Za-z0-9.\-]+(:[0-9]+)?\/[A-Za-z0-9\/._~\-%]*/) != nil
        else { return nil }
        return plan
    }
}
