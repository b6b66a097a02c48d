/// The features that accounts of before are told of, once (R-NOT-23).
public enum FeatureNotification: String, Sendable, CaseIterable {
    case starredProjects = "starred_projects"

    /// The key of its texts in message catalogues: `….title` and `….body`.
    public var messageKey: String { "notifications.feature.\(rawValue)" }

    /// Its title in English.
    public var title: String {
        switch self {
        case .starredProjects: "New Feature: Starred Projects"
        }
    }

    /// Its text in English.
    public var body: String {
        switch self {
        case .starredProjects: "You can now get notifications for projects you star. Tap to learn more."
        }
    }

    /// Where a tap leads (C-176).
    public var deepLink: String {
        switch self {
        case .starredProjects: "timesafari://features/starred-projects"
        }
    }
}

extension NotificationMessage {
    /// The notice of a feature: a notification of no change.
    ///
    /// - Parameters:
    ///   - id: Kept through every retry, so that sinks can tell a repetition.
    ///   - runID: The same for every retry too.
    public init(feature: FeatureNotification, id: String, runID: String, locale: String, createdAt: Timestamp) {
        self.id = id
        self.runID = runID
        poll = feature.rawValue
        group = .single
        collapseKey = "feature-" + feature.rawValue.replacing("_", with: "-")
        count = 0
        title = feature.title
        body = feature.body
        self.locale = locale
        self.createdAt = createdAt.iso8601
        deepLink = feature.deepLink
        actions = ["dismiss"]
        changes = []
    }
}
