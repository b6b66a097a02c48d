/// The features announced once to accounts created before them.
public enum FeatureNotification: String, Sendable, CaseIterable {
    case starredProjects = "starred_projects"

    /// The destination of a tap.
    public var deepLink: DeepLink { .feature }
}

extension NotificationMessage {
    /// The notice of a feature, a notification without changes.
    ///
    /// - Parameters:
    ///   - id: The stable id, kept through every retry, so that sinks can recognise a repetition.
    ///   - runID: The run's id, also kept through every retry.
    public init(feature: FeatureNotification, id: String, runID: String, messages: Messages, createdAt: Timestamp) {
        self.id = id
        self.runID = runID
        poll = feature.rawValue
        collapseKey = "feature-" + feature.rawValue.replacing("_", with: "-")
        title = messages.text(.featureTitle)
        body = messages.text(.featureBody)
        locale = messages.locale.description
        self.createdAt = createdAt.iso8601
        deepLink = feature.deepLink.url
        offer(.dismiss, label: messages.text(.actionDismiss))
    }
}
