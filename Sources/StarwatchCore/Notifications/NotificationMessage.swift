/// The JSON of a notification for sinks. It names projects, because it is for the person; logs and metrics never do.
public struct NotificationMessage: Sendable, Hashable, Codable {
    /// One of the announced changes.
    public struct Item: Sendable, Hashable, Codable {
        public let jwtID: String
        public let plan: String
        public let name: String?
        public let changedAt: TimeText
        /// The fields that differ from the last seen state of the plan; `nil` if no earlier state is known.
        public var fields: [String: FieldChange]? { changed?.byField }
        let changed: FieldChanges?
        /// `true` for an edition of an earlier offer or gift; `nil` otherwise.
        public let edited: Bool?
        /// `true` for a gift that honours an offer, as the server or the gift's author says; `nil` otherwise.
        public let fulfillsOffer: Bool?
        /// The name of its poll, in a notification of several polls; `nil` otherwise.
        public internal(set) var poll: String?
        /// The link of an item of a list, as its server wrote it; `nil` if it has none, and for other changes.
        public internal(set) var link: String?
        /// The values of the fields of an item of a list, by name; `nil` if it has none, and for other changes.
        public internal(set) var values: [String: String]?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case jwtID = "jwt_id"
            case plan, name
            case changedAt = "changed_at"
            case changed = "fields"
            case edited, poll, link, values
            case fulfillsOffer = "fulfills_offer"
        }
    }

    /// The same for every sink and every retry.
    public internal(set) var id: String
    public let runID: String
    public let poll: String
    /// The names of its polls, in a notification that joins what a sink held of several; `nil` otherwise.
    public internal(set) var polls: [String]?
    public internal(set) var group = NotificationGroup.single
    public internal(set) var collapseKey: String
    /// The number of ``changes``, at most 100.
    public internal(set) var count = 0
    /// The number of this notification among ``parts``; `nil` if one notification holds the whole group.
    public internal(set) var part: Int?
    /// The number of notifications for the changes of this group; `nil` for one.
    public internal(set) var parts: Int?
    /// The number of changes in all parts when they were made; `nil` if there is one. A later discard does not change it.
    public internal(set) var total: Int?
    public internal(set) var title: String
    public internal(set) var body: String
    public let locale: String
    public internal(set) var createdAt: TimeText
    public internal(set) var deepLink: String
    public internal(set) var actions: [String] = []
    /// The texts of the buttons, by action.
    public internal(set) var actionLabels: [String: String]?
    /// The id of the first notification, in a repetition after a snooze; `nil` otherwise.
    public internal(set) var repeats: String?
    /// `low` for notices that can wait; `nil` otherwise.
    public internal(set) var priority: String?
    /// Whether this withdraws an earlier notification with the same collapse key; `nil` means no.
    public internal(set) var cleared: Bool?
    /// Whether this is a synthetic change, which only sinks with `canary: true` get; `nil` means no.
    public internal(set) var canary: Bool?
    /// The cause of the staleness that this announces, a word of the status's problems; `nil` if none is known, or otherwise.
    public package(set) var problem: String?
    /// The pseudonym of the account, of an agent that works for many; `nil` otherwise.
    public package(set) var account: String?
    public internal(set) var changes: [Item] = []

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id
        case runID = "run_id"
        case poll, polls, group
        case collapseKey = "collapse_key"
        case count, part, parts, total, title, body, locale
        case createdAt = "created_at"
        case deepLink = "deep_link"
        case actions
        case actionLabels = "action_labels"
        case repeats, priority, cleared, canary, problem, account, changes
    }

    /// The largest number of changes in one notification. ``NotificationPart`` splits larger groups.
    public static let listedChanges = 100

    /// Composes the notification of `changes`, which must not be empty, and lists all
    /// of them.
    ///
    /// - Parameters:
    ///   - id: The stable id, kept through every retry, so that sinks can recognise a repetition.
    ///   - context: The other data of the texts and links.
    public init(
        id: String,
        runID: String,
        poll: PollName,
        kind: PollKind,
        changes: [Change],
        context: NotificationContext,
        createdAt: Timestamp
    ) {
        let messages = context.messages
        let part = context.part
        let group = NotificationGroup(count: part?.total ?? changes.count, largest: context.largestGroup)
        self.id = id
        self.runID = runID
        self.poll = poll.rawValue
        self.group = group
        // A key of a poll has no underscore, so a following part never replaces another notification of the group.
        let suffix = part.flatMap { $0.number > 1 ? "_\($0.number)" : nil } ?? ""
        collapseKey = poll.rawValue.replacing("_", with: "-") + suffix
        count = changes.count
        (self.part, parts, total) = (part?.number, part?.parts, part?.total)
        (title, body) = context.announcement(of: changes, poll, kind, part: part)
        locale = messages.locale.description
        self.createdAt = createdAt.iso8601
        deepLink =
            kind.isList
            ? NotificationLink.to(items: changes) : NotificationLink.to(changes, of: group, context.shortlink)
        self.changes = changes.map { Item($0, kind, context) }
        let hasProject = changes.first?.isOffer == false && !kind.isList
        for action in NotificationAction.offered(in: group, hasProject: hasProject) {
            offer(action, label: messages.text(action.label(in: group)))
        }
    }

    /// The notice that a poll is stale, or that it has recovered.
    ///
    /// - Parameters:
    ///   - lastSuccess: The time of the last success; `nil` if there was none.
    ///   - isOver: Whether the poll has recovered. The notice then withdraws the earlier one.
    public init(
        staleness id: String,
        runID: String,
        poll: PollName,
        lastSuccess: Timestamp?,
        isOver: Bool,
        messages: Messages,
        createdAt: Timestamp
    ) {
        self.id = id
        self.runID = runID
        self.poll = poll.rawValue
        collapseKey = "staleness-" + poll.rawValue.replacing("_", with: "-")
        title = messages.text(.staleTitle)
        if let lastSuccess {
            let hours = max(0, (createdAt - lastSuccess).components.seconds / 3600)
            body = messages.text(.staleMessage, [.hours: .number(Int(hours))])
        } else {
            body = messages.text(.staleMessageNever)
        }
        locale = messages.locale.description
        self.createdAt = createdAt.iso8601
        deepLink = DeepLink.notifications.url
        priority = "low"
        cleared = isOver ? true : nil
        if !isOver {
            offer(.refresh, label: messages.text(.staleRefresh))
            offer(.settings, label: messages.text(.staleSettings))
        }
        offer(.dismiss, label: messages.text(.staleDismiss))
    }

    /// The notification of a synthetic change, for programs. It is in English.
    public init(canary id: String, runID: String, createdAt: Timestamp) {
        self.id = id
        self.runID = runID
        poll = PollName.canary.rawValue
        collapseKey = PollName.canary.rawValue
        count = 1
        title = "Starwatch canary"
        body = "This synthetic change proves that notifications arrive. It announces nothing."
        locale = LocaleTag.english.description
        self.createdAt = createdAt.iso8601
        deepLink = DeepLink.notifications.url
        priority = "low"
        canary = true
    }

    /// Adds an action and the text of its button.
    mutating func offer(_ action: NotificationAction, label: String) {
        actions.append(action.rawValue)
        actionLabels = actionLabels ?? [:]
        actionLabels?[action.rawValue] = label
    }

    /// A copy for delivery after a snooze, with its own id.
    public func repeated(id: String, of first: String) -> NotificationMessage {
        var copy = self
        copy.id = id
        copy.repeats = first
        return copy
    }

    /// Whether a link to `count` changes needs a shortlink.
    ///
    /// - Parameter part: The notification's place in its group; `nil` if it holds the whole group.
    public static func needsShortlink(_ count: Int, part: NotificationPart? = nil, largestGroup: Int) -> Bool {
        NotificationGroup(count: part?.total ?? count, largest: largestGroup) == .many || count > LinkedJWTs.limit
    }
}

extension NotificationMessage {
    /// The same notification with the changes that were not discarded. Its texts, count, links and actions are made
    /// anew; its id, run, time, key and place in the group stay.
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
        let kept = changes.filter { item in JWTID(item.jwtID).map { !discarded.contains($0) } ?? false }
        let items = NotificationPolls.sorted(kept, context)
        let rest = items.compactMap { item -> Change? in
            guard let id = JWTID(item.jwtID) else { return nil }
            context.fields[id] = item.changed
            var change = Change(
                id: id,
                plan: item.plan,
                name: item.name,
                isOffer: offers.contains(id),
                isEdition: item.edited == true,
                fulfillsOffer: item.fulfillsOffer == true
            )
            change.details = item.details
            return change
        }
        guard !rest.isEmpty else { return nil }
        context.part = place
        var message = NotificationMessage(
            id: id,
            runID: runID,
            poll: poll,
            // Of several polls, lists come last, so the first change is of one only if all are.
            kind: items[0].poll == nil ? kind : context.kind(of: items[0]),
            changes: rest,
            context: context,
            createdAt: rest[0].changedAt
        )
        message.createdAt = createdAt
        (message.repeats, message.collapseKey) = (repeats, collapseKey)
        message.account = account
        NotificationPolls.tell(of: items, rest, in: &message, context)
        return message
    }

    /// The place in a group of several notifications; `nil` if this is the only one.
    public var place: NotificationPart? {
        guard let part, let parts, let total else { return nil }
        return NotificationPart(number: part, of: parts, total: total)
    }
}

extension SinkHours {
    /// Whether hours hold a notification: it announces changes or is a notice, and nobody asked for it at a time, as with a
    /// snooze. What takes a notice back is no news, so it goes at once.
    package static func canHold(_ message: NotificationMessage) -> Bool {
        message.repeats == nil && (!message.changes.isEmpty || isNotice(message) && message.cleared != true)
    }

    /// Whether one that they held can be joined with others. A part of a group names the others, so it stays itself.
    package static func canJoin(_ message: NotificationMessage) -> Bool {
        canHold(message) && !message.changes.isEmpty && message.place == nil
    }

    /// Whether it tells something else than changes. Digests and canaries, which have a time of their own, count as one.
    private static func isNotice(_ message: NotificationMessage) -> Bool { message.count == 0 }
}
