/// The texts for a notification of changes, by kind of poll (R-NOT-01…R-NOT-04).
struct NotificationWording {
    private let singleTitle: MessageKey
    private let multipleTitle: MessageKey
    private let single: MessageKey
    private let unnamed: MessageKey
    private let multiple: MessageKey
    private let messages: Messages

    init(kind: PollKind, messages: Messages) {
        self.messages = messages
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
        }
    }

    /// - Parameters:
    ///   - isEdited: Whether the only change is an edition of an earlier offer.
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
        if isEdited {
            let body = name.map { messages.text(.offerEdited, [.projectName: .text($0)]) }
            return (messages.text(.offerEditedTitle), body ?? messages.text(.offerEditedUnnamed))
        }
        let body = name.map { messages.text(single, [.projectName: .text($0)]) } ?? messages.text(unnamed)
        return (messages.text(singleTitle), body)
    }
}
