/// The words of a notification, by the kind of poll (R-NOT-01…R-NOT-04).
struct NotificationWording {
    let kind: PollKind

    func text(count: Int, name: String?) -> (title: String, body: String) {
        switch (kind, count) {
        case (.starredProjects, ...1):
            ("Project Update", "\(name ?? "A starred project") has been updated")
        case (.starredProjects, _):
            ("Project Updates", "You have \(count) new updates in your starred projects")
        case (.offersToMe, ...1):
            ("New Offer", name.map { "You have a new offer: \($0)" } ?? "You have a new offer")
        case (.offersToMe, _):
            ("New Offers", "You have \(count) new offers")
        case (.offersToMyProjects, ...1):
            ("New Offer", "\(name ?? "One of your projects") has a new offer")
        case (.offersToMyProjects, _):
            ("New Offers", "You have \(count) new offers to your projects")
        }
    }
}
