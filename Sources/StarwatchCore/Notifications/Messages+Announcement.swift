extension NotificationContext {
    /// The name to show of a change; `nil` if it has none. An item of a list without a name has its id.
    func name(of change: Change, _ kind: PollKind) -> String? {
        names[change.plan] ?? change.name ?? (kind.isList ? change.plan : nil)
    }

    /// The texts for a notification of changes of a poll: its own, and for the others those of its kind.
    ///
    /// - Parameters:
    ///   - changes: At least one.
    ///   - part: As in ``Messages/announcement(of:count:name:isEdited:fulfillsOffer:part:)``.
    func announcement(
        of changes: [Change],
        _ poll: PollName?,
        _ kind: PollKind,
        part: NotificationPart?
    ) -> (title: String, body: String) {
        let first = changes.first
        let name = first.flatMap { self.name(of: $0, kind) }
        var text = messages.announcement(
            of: kind,
            count: changes.count,
            name: name,
            isEdited: first?.isEdition == true,
            fulfillsOffer: first?.fulfillsOffer == true,
            part: part
        )
        guard kind.isList, let own = poll.flatMap({ texts[$0] }), let first, let name else { return text }
        let (count, locale) = (part?.total ?? changes.count, messages.locale)
        text.title = own.title(count: count, in: locale) ?? text.title
        // A following part continues the first one, which has the text.
        guard part.map({ $0.number == 1 }) ?? true else { return text }
        let body = count == 1 ? own.single(first, name: name, in: locale) : own.several(count: count, in: locale)
        text.body = body ?? text.body
        return text
    }
}

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
