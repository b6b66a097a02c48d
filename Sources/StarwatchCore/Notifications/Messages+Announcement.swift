extension Messages {
    /// The texts for a notification of changes of a kind of poll.
    ///
    /// - Parameters:
    ///   - isEdited: Whether the only change is an edition of an earlier offer or gift, whatever it honours.
    ///   - fulfillsOffer: Whether the only change is a gift that honours an offer.
    ///   - part: The place in a group of several notifications. The first one tells the size of the group, and the
    ///     others continue it.
    func announcement(
        of kind: PollKind,
        count: Int,
        name: String?,
        isEdited: Bool,
        fulfillsOffer: Bool,
        part: NotificationPart?
    ) -> (title: String, body: String) {
        func text(_ text: PollText, _ arguments: [MessageVariable: MessageArgument] = [:]) -> String {
            self.text(text, of: kind, arguments)
        }
        if let part {
            let total = MessageArgument.number(part.total)
            let body =
                part.number == 1
                ? text(.multiple, [.count: total])
                : self.text(.followingPart, [.count: .number(count), .total: total])
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
        let name = name.map { BidiText.isolated($0, isRightToLeft: locale.isRightToLeft) }
        return (text(title), name.map { text(named, [.projectName: .text($0)]) } ?? text(unnamed))
    }
}
