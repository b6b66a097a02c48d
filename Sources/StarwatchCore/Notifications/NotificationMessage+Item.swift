extension NotificationMessage.Item {
    init(_ change: Change, _ kind: PollKind, _ context: NotificationContext) {
        jwtID = change.id.rawValue
        plan = change.plan
        name = context.name(of: change, kind)
        changedAt = change.changedAt.iso8601
        changed = context.fields[change.id]
        edited = change.isEdition ? true : nil
        fulfillsOffer = change.fulfillsOffer ? true : nil
        guard let details = change.details else { return }
        let fields = details.fields
        (link, values) = (details.link, fields.isEmpty ? nil : fields)
    }

    /// Whether it is known to be an item of a list, because it has what other changes have not.
    package var isListed: Bool { link != nil || values != nil }

    /// The details of the change.
    var details: ItemDetails? { ItemDetails(link: link, fields: values ?? [:]) }
}
