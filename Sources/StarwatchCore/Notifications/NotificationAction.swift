/// The actions that a notification offers.
public enum NotificationAction: String, Sendable, CaseIterable, Codable {
    case viewUpdates = "view_updates"
    case viewProject = "view_project"
    case dismiss
    case snooze = "snooze_1h"
    case markRead = "mark_read"
    /// Runs the poll of a staleness notice now.
    case refresh
    /// Opens the settings of notifications.
    case settings

    /// The delay of ``snooze``: 3,600 s.
    public static let snoozeDuration = Duration.seconds(3600)

    /// Whether the action is stored, and done only once. A person can refresh and open the settings again and again.
    package var isRecorded: Bool { self != .refresh && self != .settings }

    /// The button's text. In a large group, which lists only some changes, viewing shows all of them.
    func label(in group: NotificationGroup) -> MessageKey {
        switch self {
        case .viewUpdates: group == .many ? .actionViewAll : .actionViewUpdates
        case .viewProject: .actionViewProject
        case .dismiss: .actionDismiss
        case .snooze: .actionSnooze
        case .markRead: .actionMarkRead
        case .refresh: .staleRefresh
        case .settings: .staleSettings
        }
    }

    /// The actions of a notification about changes.
    ///
    /// - Parameter hasProject: Whether a single change is of a project, or of an offer to one.
    static func offered(in group: NotificationGroup, hasProject: Bool) -> [NotificationAction] {
        [group == .single && hasProject ? .viewProject : .viewUpdates, .dismiss, .snooze, .markRead]
    }
}
