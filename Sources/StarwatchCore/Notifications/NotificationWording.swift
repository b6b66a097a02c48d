/// The texts for a notification of changes, by kind of poll (R-NOT-01…R-NOT-04).
struct NotificationWording {
    private let singleTitle: MessageKey
    private let multipleTitle: MessageKey
    private let single: MessageKey
    private let unnamed: MessageKey
    private let multiple: MessageKey
    private let edited: Edited?
    private let messages: Messages

    /// The texts for an edition of an earlier offer or gift.
    private struct Edited {
        let title: MessageKey
        let named: MessageKey
        let unnamed: MessageKey

        init?(_ kind: PollKind) {
            switch kind {
            case .starredProjects: return nil
            case .offersToMe: (title, named, unnamed) = (.offerEditedTitle, .offerEdited, .offerEditedUnnamed)
            case .offersToMyProjects:
                (title, named, unnamed) = (.projectOfferEditedTitle, .projectOfferEdited, .projectOfferEditedUnnamed)
            case .offersToStarred:
                (title, named, unnamed) = (.starredOfferEditedTitle, .starredOfferEdited, .starredOfferEditedUnnamed)
            case .givesToMe: (title, named, unnamed) = (.giveEditedTitle, .giveEdited, .giveEditedUnnamed)
            case .givesToMyProjects:
                (title, named, unnamed) = (.projectGiveEditedTitle, .projectGiveEdited, .projectGiveEditedUnnamed)
            case .givesToStarred:
                (title, named, unnamed) = (.starredGiveEditedTitle, .starredGiveEdited, .starredGiveEditedUnnamed)
            }
        }
    }

    init(kind: PollKind, messages: Messages) {
        self.messages = messages
        edited = Edited(kind)
        switch kind {
        case .starredProjects:
            (singleTitle, multipleTitle) = (.starredSingleTitle, .starredMultipleTitle)
            (single, unnamed, multiple) = (.starredSingle, .starredSingleUnnamed, .starredMultiple)
        case .offersToMe:
            (singleTitle, multipleTitle) = (.offerSingleTitle, .offerMultipleTitle)
            (single, unnamed, multiple) = (.offerSingle, .offerSingleUnnamed, .offerMultiple)
        case .offersToMyProjects:
            (singleTitle, multipleTitle) = (.projectOfferSingleTitle, .projectOfferMultipleTitle)
            (single, unnamed, multiple) = (.projectOfferSingle, .projectOfferSingleUnnamed, .projectOfferMultiple)
        case .offersToStarred:
            (singleTitle, multipleTitle) = (.starredOfferSingleTitle, .starredOfferMultipleTitle)
            (single, unnamed, multiple) = (.starredOfferSingle, .starredOfferSingleUnnamed, .starredOfferMultiple)
        case .givesToMe:
            (singleTitle, multipleTitle) = (.giveSingleTitle, .giveMultipleTitle)
            (single, unnamed, multiple) = (.giveSingle, .giveSingleUnnamed, .giveMultiple)
        case .givesToMyProjects:
            (singleTitle, multipleTitle) = (.projectGiveSingleTitle, .projectGiveMultipleTitle)
            (single, unnamed, multiple) = (.projectGiveSingle, .projectGiveSingleUnnamed, .projectGiveMultiple)
        case .givesToStarred:
            (singleTitle, multipleTitle) = (.starredGiveSingleTitle, .starredGiveMultipleTitle)
            (single, unnamed, multiple) = (.starredGiveSingle, .starredGiveSingleUnnamed, .starredGiveMultiple)
        }
    }

    /// - Parameters:
    ///   - isEdited: Whether the only change is an edition of an earlier offer or gift.
    ///   - part: The place in a group of several notifications. The first one tells the size of the group, and the
    ///     others continue it.
    func text(count: Int, name: String?, isEdited: Bool, part: NotificationPart?) -> (title: String, body: String) {
        if let part {
            let total = MessageArgument.number(part.total)
            let body =
                part.number == 1
                ? messages.text(multiple, [.count: total])
                : messages.text(.followingPart, [.count: .number(count), .total: total])
            return (messages.text(multipleTitle), body)
        }
        let name = name.map { BidiText.isolated($0, isRightToLeft: messages.locale.isRightToLeft) }
        guard count == 1 else {
            return (messages.text(multipleTitle), messages.text(multiple, [.count: .number(count)]))
        }
        if isEdited, let edited {
            let body = name.map { messages.text(edited.named, [.projectName: .text($0)]) }
            return (messages.text(edited.title), body ?? messages.text(edited.unnamed))
        }
        let body = name.map { messages.text(single, [.projectName: .text($0)]) } ?? messages.text(unnamed)
        return (messages.text(singleTitle), body)
    }
}
