/// The texts for a notification of changes, by kind of poll.
struct NotificationWording {
    let kind: PollKind
    let messages: Messages

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
        func text(_ text: PollText, _ arguments: [MessageVariable: MessageArgument] = [:]) -> String {
            messages.text(text, of: kind, arguments)
        }
        if let part {
            let total = MessageArgument.number(part.total)
            let body =
                part.number == 1
                ? text(.multiple, [.count: total])
                : messages.text(.followingPart, [.count: .number(count), .total: total])
            return (text(.multipleTitle), body)
        }
        guard count == 1 else { return (text(.multipleTitle), text(.multiple, [.count: .number(count)])) }
        let (title, named, unnamed): (PollText, PollText, PollText) =
            if isEdited, PollText.edited.exists(for: kind) {
                (.editedTitle, .edited, .editedUnnamed)
            } else if fulfillsOffer, PollText.fulfilling.exists(for: kind) {
                (.singleTitle, .fulfilling, .fulfillingUnnamed)
            } else {
                (.singleTitle, .single, .singleUnnamed)
            }
        let name = name.map { BidiText.isolated($0, isRightToLeft: messages.locale.isRightToLeft) }
        return (text(title), name.map { text(named, [.projectName: .text($0)]) } ?? text(unnamed))
    }
}
