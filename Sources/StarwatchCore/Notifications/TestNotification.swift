/// The notifications that test a sink: one of each form. They announce nothing.
package enum TestNotification: String, Sendable, CaseIterable, Codable {
    /// One change, with a link.
    case oneChange = "one_change"
    /// Several changes, which sinks list or count.
    case severalChanges = "several_changes"
    /// A text without changes.
    case notice

    /// The number of changes.
    private var count: Int {
        switch self {
        case .oneChange: 1
        case .severalChanges: 3
        case .notice: 0
        }
    }

    /// Synthetic changes, of projects that do not exist.
    fileprivate func changes(at time: Timestamp) -> [Change] {
        (0..<count).map { index in
            Change(
                id: .floor(.ulid, at: time + .milliseconds(index)),
                plan: "https://example.org/starwatch-test/\(index + 1)",
                name: count == 1 ? "Example" : "Example \(index + 1)"
            )
        }
    }

    fileprivate static func link(to changes: [Change]) -> DeepLink {
        if changes.count == 1 { return DeepLink(plan: changes[0].plan, jwt: changes[0].id) }
        return LinkedJWTs(changes.map(\.id)).map { .updates($0) } ?? .notifications
    }
}

extension NotificationMessage {
    /// A notification that tests a sink. It is for an operator, so it is in English.
    ///
    /// Its priority is the usual one, because services deliver a low one silently. It has no actions: it is not stored, so
    /// nobody can perform them.
    package init(_ test: TestNotification, id: String, runID: String, sink: String, createdAt: Timestamp) {
        let changes = test.changes(at: createdAt)
        self.id = id
        self.runID = runID
        poll = "test"
        // Each has a key of its own, so that none replaces another.
        collapseKey = "test-" + test.rawValue.replacing("_", with: "-")
        group = NotificationGroup(count: changes.count)
        count = changes.count
        if changes.isEmpty {
            title = "Starwatch test"
            body = "The sink \(sink) works. This notification announces no change."
        } else {
            let messages = MessageCatalogues.builtIn.messages(for: .english)
            let text = messages.announcement(
                of: .starredProjects,
                count: changes.count,
                name: changes[0].name,
                isEdited: false,
                fulfillsOffer: false,
                part: nil
            )
            title = "Starwatch test: \(text.title)"
            body = "This tests the sink \(sink). \(text.body)"
        }
        locale = LocaleTag.english.description
        self.createdAt = createdAt.iso8601
        deepLink = TestNotification.link(to: changes).url
        self.changes = changes.map { change in
            Item(
                jwtID: change.id.rawValue,
                plan: change.plan,
                name: change.name,
                changedAt: change.changedAt.iso8601,
                changed: nil,
                edited: nil,
                fulfillsOffer: nil
            )
        }
    }
}
