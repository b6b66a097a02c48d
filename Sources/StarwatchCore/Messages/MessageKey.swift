/// The texts of notifications (R-NOT-04, R-NOT-13, R-NOT-23).
public enum MessageKey: String, Sendable, CaseIterable {
    case starredSingleTitle = "notifications.starred_projects.single_title"
    case starredMultipleTitle = "notifications.starred_projects.multiple_title"
    case starredSingle = "notifications.starred_projects.single_update"
    case starredSingleUnnamed = "notifications.starred_projects.single_update_unnamed"
    case starredMultiple = "notifications.starred_projects.multiple_updates"
    case offerSingleTitle = "notifications.offers_to_me.single_title"
    case offerMultipleTitle = "notifications.offers_to_me.multiple_title"
    case offerSingle = "notifications.offers_to_me.single_update"
    case offerSingleUnnamed = "notifications.offers_to_me.single_update_unnamed"
    case offerMultiple = "notifications.offers_to_me.multiple_updates"
    case offerEditedTitle = "notifications.offers_to_me.edited_title"
    case offerEdited = "notifications.offers_to_me.edited"
    case offerEditedUnnamed = "notifications.offers_to_me.edited_unnamed"
    case projectOfferSingleTitle = "notifications.offers_to_my_projects.single_title"
    case projectOfferMultipleTitle = "notifications.offers_to_my_projects.multiple_title"
    case projectOfferSingle = "notifications.offers_to_my_projects.single_update"
    case projectOfferSingleUnnamed = "notifications.offers_to_my_projects.single_update_unnamed"
    case projectOfferMultiple = "notifications.offers_to_my_projects.multiple_updates"
    case projectOfferEditedTitle = "notifications.offers_to_my_projects.edited_title"
    case projectOfferEdited = "notifications.offers_to_my_projects.edited"
    case projectOfferEditedUnnamed = "notifications.offers_to_my_projects.edited_unnamed"
    case starredOfferSingleTitle = "notifications.offers_to_starred.single_title"
    case starredOfferMultipleTitle = "notifications.offers_to_starred.multiple_title"
    case starredOfferSingle = "notifications.offers_to_starred.single_update"
    case starredOfferSingleUnnamed = "notifications.offers_to_starred.single_update_unnamed"
    case starredOfferMultiple = "notifications.offers_to_starred.multiple_updates"
    case starredOfferEditedTitle = "notifications.offers_to_starred.edited_title"
    case starredOfferEdited = "notifications.offers_to_starred.edited"
    case starredOfferEditedUnnamed = "notifications.offers_to_starred.edited_unnamed"
    case giveSingleTitle = "notifications.gives_to_me.single_title"
    case giveMultipleTitle = "notifications.gives_to_me.multiple_title"
    case giveSingle = "notifications.gives_to_me.single_update"
    case giveSingleUnnamed = "notifications.gives_to_me.single_update_unnamed"
    case giveMultiple = "notifications.gives_to_me.multiple_updates"
    case giveEditedTitle = "notifications.gives_to_me.edited_title"
    case giveEdited = "notifications.gives_to_me.edited"
    case giveEditedUnnamed = "notifications.gives_to_me.edited_unnamed"
    case projectGiveSingleTitle = "notifications.gives_to_my_projects.single_title"
    case projectGiveMultipleTitle = "notifications.gives_to_my_projects.multiple_title"
    case projectGiveSingle = "notifications.gives_to_my_projects.single_update"
    case projectGiveSingleUnnamed = "notifications.gives_to_my_projects.single_update_unnamed"
    case projectGiveMultiple = "notifications.gives_to_my_projects.multiple_updates"
    case projectGiveEditedTitle = "notifications.gives_to_my_projects.edited_title"
    case projectGiveEdited = "notifications.gives_to_my_projects.edited"
    case projectGiveEditedUnnamed = "notifications.gives_to_my_projects.edited_unnamed"
    case starredGiveSingleTitle = "notifications.gives_to_starred.single_title"
    case starredGiveMultipleTitle = "notifications.gives_to_starred.multiple_title"
    case starredGiveSingle = "notifications.gives_to_starred.single_update"
    case starredGiveSingleUnnamed = "notifications.gives_to_starred.single_update_unnamed"
    case starredGiveMultiple = "notifications.gives_to_starred.multiple_updates"
    case starredGiveEditedTitle = "notifications.gives_to_starred.edited_title"
    case starredGiveEdited = "notifications.gives_to_starred.edited"
    case starredGiveEditedUnnamed = "notifications.gives_to_starred.edited_unnamed"
    case severalPollsTitle = "notifications.several_polls.title"
    case unnamedProject = "notifications.unnamed_project"
    case followingPart = "notifications.following_part"
    case actionViewUpdates = "notifications.starred_projects.action_view"
    case actionViewProject = "notifications.starred_projects.action_view_project"
    case actionViewAll = "notifications.starred_projects.action_view_all"
    case actionDismiss = "notifications.starred_projects.action_dismiss"
    case actionSnooze = "notifications.starred_projects.action_snooze"
    case actionMarkRead = "notifications.starred_projects.action_mark_read"
    case featureTitle = "notifications.feature.starred_projects.title"
    case featureBody = "notifications.feature.starred_projects.body"
    case staleTitle = "staleness.banner.title"
    case staleMessage = "staleness.banner.message"
    case staleMessageNever = "staleness.banner.message_never"
    case staleRefresh = "staleness.banner.action_refresh"
    case staleSettings = "staleness.banner.action_settings"
    case staleDismiss = "staleness.banner.dismiss"

    /// The variables that the message can use.
    public var variables: Set<MessageVariable> {
        switch self {
        case .starredSingle, .offerSingle, .offerEdited, .projectOfferSingle, .projectOfferEdited, .starredOfferSingle,
            .starredOfferEdited, .giveSingle, .giveEdited, .projectGiveSingle, .projectGiveEdited, .starredGiveSingle,
            .starredGiveEdited:
            [.projectName]
        case .starredMultiple, .offerMultiple, .projectOfferMultiple, .starredOfferMultiple, .giveMultiple,
            .projectGiveMultiple, .starredGiveMultiple:
            [.count]
        case .followingPart: [.count, .total]
        case .staleMessage: [.hours]
        default: []
        }
    }
}

/// A value for a variable of a message.
public enum MessageArgument: Sendable, Hashable {
    case text(String)
    case number(Int)

    /// The text in the message. Numbers have no separators.
    var text: String {
        switch self {
        case .text(let text): text
        case .number(let number): String(number)
        }
    }
}

/// The variables of messages.
public enum MessageVariable: String, Sendable, CaseIterable {
    case projectName, count, total, hours

    /// Whether the values are numbers, so that a plural can use them.
    public var isNumber: Bool { self != .projectName }
}
