/// The texts for a notification of changes, by kind of poll.
struct NotificationWording {
    private let singleTitle: MessageKey
    private let multipleTitle: MessageKey
    private let single: MessageKey
    private let unnamed: MessageKey
    private let multiple: MessageKey
    private let edited: Single?
    private let fulfilling: Single?
    private let messages: Messages

    /// The texts for a single change.
    private struct Single {
        let title: MessageKey
        let named: MessageKey
        let unnamed: MessageKey

        init(_ title: MessageKey, _ named: MessageKey, _ unnamed: MessageKey) {
            (self.title, self.named, self.unnamed) = (title, named, unnamed)
        }

        /// Texts for an edition of an earlier offer or gift; `nil` for other kinds of changes.
        static func edited(_ kind: PollKind) -> Single? {
            switch kind {
            case .starredProjects: nil
            case .offersToMe: Single(.offerEditedTitle, .offerEdited, .offerEditedUnnamed)
            case .offersToMyProjects:
                Single(.projectOfferEditedTitle, .projectOfferEdited, .projectOfferEditedUnnamed)
            case .offersToStarred: Single(.starredOfferEditedTitle, .starredOfferEdited, .starredOfferEditedUnnamed)
            case .givesToMe: Single(.giveEditedTitle, .giveEdited, .giveEditedUnnamed)
            case .givesToMyProjects: Single(.projectGiveEditedTitle, .projectGiveEdited, .projectGiveEditedUnnamed)
            case .givesToStarred: Single(.starredGiveEditedTitle, .starredGiveEdited, .starredGiveEditedUnnamed)
            }
        }

        /// Texts for a gift that honours an offer; `nil` for other kinds of changes.
        static func fulfilling(_ kind: PollKind) -> Single? {
            switch kind {
            case .starredProjects, .offersToMe, .offersToMyProjects, .offersToStarred: nil
            case .givesToMe: Single(.giveSingleTitle, .giveFulfilling, .giveFulfillingUnnamed)
            case .givesToMyProjects:
                Single(.projectGiveSingleTitle, .projectGiveFulfilling, .projectGiveFulfillingUnnamed)
            case .givesToStarred:
                Single(.starredGiveSingleTitle, .starredGiveFulfilling, .starredGiveFulfillingUnnamed)
            }
        }
    }

    init(kind: PollKind, messages: Messages) {
        self.messages = messages
        (edited, fulfilling) = (Single.edited(kind), Single.fulfilling(kind))
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
    ///   - isEdited: Whether the only change is an edition of an earlier offer or gift, whatever it honours.
    ///   - fulfillsOffer: Whether the only change is a gift that honours an offer.
    ///   - part: The place in a group of several notifications. The first one tells the size of the group, and the
    ///     others continue it.
    func text(
        count: Int,
        name: String?,
        isEdited: Bool,
        fulfillsOffer: Bool,
        part: NotificationPart?
    ) -> (title: String, body: String) {
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
        let special = isEdited ? edited : fulfillsOffer ? fulfilling : nil
        let texts = special ?? Single(singleTitle, single, unnamed)
        let body = name.map { messages.text(texts.named, [.projectName: .text($0)]) } ?? messages.text(texts.unnamed)
        return (messages.text(texts.title), body)
    }
}
