extension NotificationMessage {
    /// The destination of a tap. Without a needed shortlink it is the list of notifications.
    static func link(to changes: [Change], of group: NotificationGroup, _ shortlink: Shortlink?) -> String {
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

    /// The destination for items of lists, which the app does not know: the link of the newest one that has one.
    static func link(toItems changes: [Change]) -> String {
        let links = changes.compactMap { change in change.details?.link.map { (change.id.rawValue, $0) } }
        return links.max { $0.0 < $1.0 }?.1 ?? DeepLink.notifications.url
    }

    /// Whether a link to `count` changes needs a shortlink.
    ///
    /// - Parameter part: The notification's place in its group; `nil` if it holds the whole group.
    public static func needsShortlink(_ count: Int, part: NotificationPart? = nil, largestGroup: Int) -> Bool {
        NotificationGroup(count: part?.total ?? count, largest: largestGroup) == .many || count > LinkedJWTs.limit
    }
}
