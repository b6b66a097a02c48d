extension NotificationMessage {
    /// The same notification with the changes that were not discarded. Its texts, count, links and actions are made
    /// anew; its id, run, time and place in the group stay.
    ///
    /// - Parameters:
    ///   - discarded: The changes to leave out.
    ///   - offers: The changes of offers without a plan.
    ///   - context: The other data of the texts and links. Its fields and its part come from this message.
    /// - Returns: `nil` if no change remains.
    public func without(
        _ discarded: Set<JWTID>,
        offers: Set<JWTID>,
        poll: PollName,
        kind: PollKind,
        context: NotificationContext
    ) -> NotificationMessage? {
        var context = context
        context.fields = [:]
        let rest = changes.compactMap { item -> Change? in
            guard let id = JWTID(item.jwtID), !discarded.contains(id) else { return nil }
            context.fields[id] = item.fields
            return Change(id: id, plan: item.plan, name: item.name, isOffer: offers.contains(id))
        }
        guard !rest.isEmpty else { return nil }
        context.part = place
        var message = NotificationMessage(
            id: id,
            runID: runID,
            poll: poll,
            kind: kind,
            changes: rest,
            context: context,
            createdAt: rest[0].changedAt
        )
        message.createdAt = createdAt
        message.repeats = repeats
        return message
    }

    /// The place in a group of several notifications; `nil` if this is the only one.
    public var place: NotificationPart? {
        guard let part, let parts, let total else { return nil }
        return NotificationPart(number: part, of: parts, total: total)
    }
}
