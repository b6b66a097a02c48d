/// The actions that a notification offers (R-NOT-09).
public enum NotificationAction: String, Sendable, CaseIterable, Codable {
    case viewUpdates = "view_updates"
    case viewProject = "view_project"
    case dismiss
    case snooze = "snooze_1h"
    case markRead = "mark_read"

    /// The delay of ``snooze``: 3,600 s.
    public static let snoozeDuration = Duration.seconds(3600)

    /// The button's text. In a large group, which lists only some changes, viewing shows all of them.
    func label(in group: NotificationGroup) -> MessageKey {
        switch self {
        case .viewUpdates: group == .many ? .actionViewAll : .actionViewUpdates
        case .viewProject: .actionViewProject
        case .dismiss: .actionDismiss
        case .snooze: .actionSnooze
        case .markRead: .actionMarkRead
        }
    }

    /// The actions of a notification about changes.
    ///
    /// - Parameter hasProject: Whether a single change is of a project, or of an offer to one.
    static func offered(in group: NotificationGroup, hasProject: Bool) -> [NotificationAction] {
        [group == .single && hasProject ? .viewProject : .viewUpdates, .dismiss, .snooze, .markRead]
    }
}
