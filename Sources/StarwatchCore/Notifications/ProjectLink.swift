/// The links of a notification that a browser opens.
package enum ProjectLink {
    /// The address of the only project; `nil` if it has none.
    package static func address(of message: NotificationMessage) -> String? {
        message.count == 1 ? message.changes.first.flatMap { address(ofPlan: $0.plan) } : nil
    }

    /// The address that the id of a project is; `nil` for any other id. It needs no escape in any format.
    package static func address(ofPlan plan: String) -> String? {
        guard plan.utf8.count <= 1000,
            plan.wholeMatch(of: /https:\/\/[A-Za-z0-9.\-]+(:[0-9]+)?\/[A-Za-z0-9\/._~\-%]*/) != nil
        else { return nil }
        return plan
    }
}
