/// The destination of a tap.
enum NotificationLink {
    /// The place in the app of changes at an Endorser server. Without a needed shortlink it is the list of notifications.
    static func to(_ changes: [Change], of group: NotificationGroup, _ shortlink: Shortlink?) -> String {
        let link: DeepLink =
            if group == .single, let change = changes.first {
                change.isOffer ? .notifications : DeepLink(plan: change.plan, jwt: change.id)
            } else if group == .several, let jwts = LinkedJWTs(changes.map(\.id)) {
                .updates(jwts)
            } else {
                shortlink.map { .shortlink($0) } ?? .notifications
            }
        return link.url
    }

    /// The link of the newest item of lists that has one. The app does not know them.
    static func to(items changes: [Change]) -> String {
        let links = changes.compactMap { change in change.details?.link.map { (change.id.rawValue, $0) } }
        return links.max { $0.0 < $1.0 }?.1 ?? DeepLink.notifications.url
    }
}
