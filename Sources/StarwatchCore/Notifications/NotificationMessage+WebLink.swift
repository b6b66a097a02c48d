extension NotificationMessage {
    /// The link that a browser opens: the address of the only project; `nil` if it has none. It needs no escape in any format.
    package var webLink: String? {
        guard count == 1, let plan = changes.first?.plan, plan.utf8.count <= 1000,
            plan.wholeMatch(of: /https:\/\/[A-Za-z0-9.\-]+(:[0-9]+)?\/[A-Za-z0-9\/._~\-%]*/) != nil
        else { return nil }
        return plan
    }
}
