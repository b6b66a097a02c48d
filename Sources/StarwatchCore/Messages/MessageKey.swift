/// The texts of notifications, besides those of each kind of poll.
public enum MessageKey: String, Sendable, CaseIterable {
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
        case .moreNames: [.count]
        case .followingPart: [.count, .total]
        case .changeFields: [.fields]
        case .staleMessage: [.hours]
        default: []
        }
    }
}

/// The texts that tell of the claims of a poll. Each kind of poll has its own, with the key `notifications.KIND.` and the raw value.
public enum PollText: String, Sendable, CaseIterable {
    case singleTitle = "single_title"
    case multipleTitle = "multiple_title"
    case single = "single_update"
    case singleUnnamed = "single_update_unnamed"
    case multiple = "multiple_updates"
    case editedTitle = "edited_title"
    case edited
    case editedUnnamed = "edited_unnamed"
    case fulfilling = "fulfills_offer"
    case fulfillingUnnamed = "fulfills_offer_unnamed"

    /// Whether a kind of poll has the text. An edition of a plan is a change as any other, and confirmations have none.
    public func exists(for kind: PollKind) -> Bool {
        switch self {
        case .editedTitle, .edited, .editedUnnamed: [.offer, .give, .listed].contains(kind.traits.item)
        case .fulfilling, .fulfillingUnnamed: kind.traits.item == .give && !kind.isOfLinks
        case .singleTitle, .multipleTitle, .single, .singleUnnamed, .multiple: true
        }
    }

    /// The key of a kind's text.
    func key(of kind: PollKind) -> String { "notifications.\(kind.rawValue).\(rawValue)" }

    /// The variables that the message can use.
    var variables: Set<MessageVariable> {
        switch self {
        case .single, .edited, .fulfilling: [.projectName]
        case .multiple: [.count]
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
