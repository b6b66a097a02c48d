import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// Renders changes as notifications, in the configured language and with the limits of their polls.
struct NotificationRenderer: Sendable {
    let messages: Messages
    private let polls: [PollName: PollOptions]
    /// The texts of lists that have their own.
    private let texts: [PollName: OwnTexts]
    private let options: DeliveryOptions
    /// The pseudonym of one of many accounts; `nil`: the active identity, which notifications do not name.
    let account: String?

    init(polls: [PollOptions], options: DeliveryOptions, account: String? = nil) {
        self.polls = Dictionary(polls.map { ($0.name, $0) }) { $1 }
        let texts = polls.compactMap { poll in OwnTexts(poll.texts).map { (poll.name, $0) } }
        self.texts = Dictionary(texts) { $1 }
        self.options = options
        self.account = account
        messages = options.catalogues.messages(for: LocaleTag(options.locale) ?? .english)
    }

    /// Renders the rows of one notification. Synthetic ones have a text of their own.
    ///
    /// Its run is the one that found its newest change, so that the log of a run continues with its delivery.
    ///
    /// - Parameters:
    ///   - part: The place in its group; `nil` if it holds the whole group.
    ///   - poll: The poll of the rows, which can be one that is no longer configured.
    func notification(
        of rows: [OutboxRow],
        part: NotificationPart?,
        poll: PollName,
        at now: Timestamp
    ) -> (notification: OutgoingNotification, shortlink: Shortlink?) {
        let (id, runID) = (RandomID.notificationID(), rows.max { $0.id < $1.id }?.runID ?? "")
        guard poll != .canary else {
            return (OutgoingNotification(NotificationMessage(canary: id, runID: runID, createdAt: now)), nil)
        }
        let kind = kind(of: poll, isList: rows.first?.stream.server == StreamKey.lists)
        var context = context(count: rows.count, part: part, poll)
        // No link leads to items of a list in the app.
        if kind.isList { context.shortlink = nil }
        context.fields = Dictionary(rows.compactMap { row in row.changedFields.map { (row.change.id, $0) } }) { $1 }
        var message = NotificationMessage(
            id: id,
            runID: runID,
            poll: poll,
            kind: kind,
            changes: rows.map(\.change),
            context: context,
            createdAt: now
        )
        message.account = account
        return (OutgoingNotification(message), context.shortlink)
    }

    /// Renders a notification without its discarded changes; `nil` if none is left.
    func renewed(_ remainder: NotificationRemainder) -> (notification: OutgoingNotification, shortlink: Shortlink?)? {
        let message = remainder.message
        let count = message.changes.count - remainder.discarded.count
        // No poll's limit holds for the changes of several.
        let poll = message.polls == nil ? remainder.poll : nil
        var context = context(count: count, part: message.place, poll)
        context.kinds = polls.mapValues(\.kind)
        let rest = message.without(
            remainder.discarded,
            offers: remainder.offers,
            poll: remainder.poll,
            kind: kind(of: remainder.poll, isList: message.changes.contains(where: \.isListed)),
            context: context
        )
        guard let rest else { return nil }
        // The rest of a group can be small enough for a link without a shortlink.
        let shortlink = context.shortlink.flatMap { rest.deepLink == DeepLink.shortlink($0).url ? $0 : nil }
        return (OutgoingNotification(rest), shortlink)
    }

    private func kind(of poll: PollName, isList: Bool) -> PollKind {
        polls[poll]?.kind ?? PollKind(former: poll, isList: isList)
    }

    private func context(count: Int, part: NotificationPart?, _ poll: PollName?) -> NotificationContext {
        let largest = poll.flatMap { polls[$0]?.maxGroupSize } ?? options.maxGroupSize
        let needsShortlink = NotificationMessage.needsShortlink(count, part: part, largestGroup: largest)
        var context = NotificationContext(
            largestGroup: largest,
            messages: messages,
            names: options.projectNames,
            shortlink: needsShortlink ? RandomID.shortlink() : nil,
            part: part
        )
        context.texts = texts
        return context
    }
}
