/// The texts of notifications.
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
    case giveFulfilling = "notifications.gives_to_me.fulfills_offer"
    case giveFulfillingUnnamed = "notifications.gives_to_me.fulfills_offer_unnamed"
    case projectGiveSingleTitle = "notifications.gives_to_my_projects.single_title"
    case projectGiveMultipleTitle = "notifications.gives_to_my_projects.multiple_title"
    case projectGiveSingle = "notifications.gives_to_my_projects.single_update"
    case projectGiveSingleUnnamed = "notifications.gives_to_my_projects.single_update_unnamed"
    case projectGiveMultiple = "notifications.gives_to_my_projects.multiple_updates"
    case projectGiveEditedTitle = "notifications.gives_to_my_projects.edited_title"
    case projectGiveEdited = "notifications.gives_to_my_projects.edited"
    case projectGiveEditedUnnamed = "notifications.gives_to_my_projects.edited_unnamed"
    case projectGiveFulfilling = "notifications.gives_to_my_projects.fulfills_offer"
    case projectGiveFulfillingUnnamed = "notifications.gives_to_my_projects.fulfills_offer_unnamed"
    case starredGiveSingleTitle = "notifications.gives_to_starred.single_title"
    case starredGiveMultipleTitle = "notifications.gives_to_starred.multiple_title"
    case starredGiveSingle = "notifications.gives_to_starred.single_update"
    case starredGiveSingleUnnamed = "notifications.gives_to_starred.single_update_unnamed"
    case starredGiveMultiple = "notifications.gives_to_starred.multiple_updates"
    case starredGiveEditedTitle = "notifications.gives_to_starred.edited_title"
    case starredGiveEdited = "notifications.gives_to_starred.edited"
    case starredGiveEditedUnnamed = "notifications.gives_to_starred.edited_unnamed"
    case starredGiveFulfilling = "notifications.gives_to_starred.fulfills_offer"
    case starredGiveFulfillingUnnamed = "notifications.gives_to_starred.fulfills_offer_unnamed"
    case severalPollsTitle = "notifications.several_polls.title"
    case unnamedProject = "notifications.unnamed_project"
    case moreNames = "notifications.more_names"
    case followingPart = "notifications.following_part"
    case changeFields = "notifications.change.fields"
    case changeEdited = "notifications.change.edited"
    case changeNone = "notifications.change.none"
    case changeComma = "notifications.change.comma"
    case fieldName = "notifications.field.name"
    case fieldDescription = "notifications.field.description"
    case fieldLocation = "notifications.field.location"
    case fieldURL = "notifications.field.url"
    case fieldImage = "notifications.field.image"
    case fieldStartTime = "notifications.field.start_time"
    case fieldEndTime = "notifications.field.end_time"
    case fieldStatus = "notifications.field.status"
    case fieldProgress = "notifications.field.progress"
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
            .starredOfferEdited, .giveSingle, .giveEdited, .giveFulfilling, .projectGiveSingle, .projectGiveEdited,
            .projectGiveFulfilling, .starredGiveSingle, .starredGiveEdited, .starredGiveFulfilling:
            [.projectName]
        case .starredMultiple, .offerMultiple, .projectOfferMultiple, .starredOfferMultiple, .giveMultiple,
            .projectGiveMultiple, .starredGiveMultiple, .moreNames:
            [.count]
        case .followingPart: [.count, .total]
        case .changeFields: [.fields]
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
    case projectName, count, total, hours, fields

    /// Whether the values are numbers, so that a plural can use them.
    public var isNumber: Bool { self != .projectName && self != .fields }
}
