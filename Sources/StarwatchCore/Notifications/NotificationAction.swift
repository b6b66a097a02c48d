/// What a person can do with a notification (R-NOT-09).
public enum NotificationAction: String, Sendable, CaseIterable, Codable {
    case viewUpdates = "view_updates"
    case viewProject = "view_project"
    case dismiss
    case snooze = "snooze_1h"
    case markRead = "mark_read"

    /// How long ``snooze`` puts a notification off: 3,600 s (C-180).
    public static let snoozeDuration = Duration.seconds(3600)

    /// The button's text in a group: where there is more than can be listed, viewing means all of it.
    func label(in group: NotificationGroup) -> MessageKey {
        switch self {
        case .viewUpdates: group == .many ? .actionViewAll : .actionViewUpdates
        case .viewProject: .actionViewProject
        case .dismiss: .actionDismiss
        case .snooze: .actionSnooze
        case .markRead: .actionMarkRead
        }
    }

    /// Those of a notification of changes.
    static func offered(in group: NotificationGroup) -> [NotificationAction] {
        [group == .single ? .viewProject : .viewUpdates, .dismiss, .snooze, .markRead]
    }
}
