import FoundationEssentials

/// A notification as sinks get it. It is meant for the person, so it names projects; logs and metrics never do.
public struct NotificationMessage: Sendable, Hashable, Codable {
    /// One of the changes the notification is about.
    public struct Item: Sendable, Hashable, Codable {
        public let jwtID: String
        public let plan: String
        public let name: String?
        public let changedAt: String
        /// What differs from what was last seen of the plan, by field; `nil` when nothing was seen before.
        public let fields: [String: FieldChange]?

        enum CodingKeys: String, CodingKey {
            case jwtID = "jwt_id"
            case plan, name
            case changedAt = "changed_at"
            case fields
        }
    }

    public internal(set) var id: String
    public let runID: String
    public let poll: String
    public let group: NotificationGroup
    public let collapseKey: String
    public let count: Int
    public let title: String
    public let body: String
    public let locale: String
    public let createdAt: String
    public let deepLink: String
    public let actions: [String]
    /// The buttons' texts, by action.
    public let actionLabels: [String: String]?
    /// The first notification of what this one repeats after a snooze; `nil` for a first one.
    public internal(set) var repeats: String?
    /// `low` for what may wait; `nil` otherwise.
    public let priority: String?
    /// Whether this takes back what was sent under the same collapse key; `nil` for no.
    public let cleared: Bool?
    public let changes: [Item]

    enum CodingKeys: String, CodingKey {
        case id
        case runID = "run_id"
        case poll, group
        case collapseKey = "collapse_key"
        case count, title, body, locale
        case createdAt = "created_at"
        case deepLink = "deep_link"
        case actions
        case actionLabels = "action_labels"
        case repeats, priority, cleared, changes
    }

    /// The most changes listed; ``count`` is always true.
    public static let listedChanges = 100

    /// Composes the notification of `changes`, which must not be empty (R-NOT-01, R-NOT-02, R-NOT-06).
    ///
    /// - Parameters:
    ///   - id: Kept through every retry, so that sinks can tell a repetition.
    ///   - largestGroup: The largest group that is "several".
    ///   - messages: The texts, and with them the locale.
    ///   - names: What the host calls its projects, by handle; before the server's names.
    ///   - fields: What differs from what was seen before, by JWT.
    ///   - shortlink: What stands for the changes where they are too many for a link, see ``needsShortlink(_:largestGroup:)``.
    public init(
        id: String,
        runID: String,
        poll: PollName,
        kind: PollKind,
        changes: [Change],
        largestGroup: Int,
        messages: Messages = .english,
        names: [String: String] = [:],
        fields: [JWTID: [String: FieldChange]] = [:],
        shortlink: Shortlink? = nil,
        createdAt: Timestamp
    ) {
        func name(_ change: Change) -> String? { names[change.plan] ?? change.name }
        let wording = NotificationWording(kind: kind, messages: messages)
        let group = NotificationGroup(count: changes.count, largest: largestGroup)
        let offered = NotificationAction.offered(in: group)
        self.id = id
        self.runID = runID
        self.poll = poll.rawValue
        self.group = group
        collapseKey = poll.rawValue.replacing("_", with: "-")
        count = changes.count
        (title, body) = wording.text(count: changes.count, name: changes.first.flatMap(name))
        locale = messages.locale.description
        self.createdAt = createdAt.iso8601
        deepLink = Self.link(to: changes, of: group, shortlink: shortlink).url
        actions = offered.map(\.rawValue)
        actionLabels = Dictionary(
            uniqueKeysWithValues: offered.map { ($0.rawValue, messages.text($0.label(in: group))) }
        )
        repeats = nil
        (priority, cleared) = (nil, nil)
        self.changes = changes.prefix(Self.listedChanges).map { change in
            Item(
                jwtID: change.id.rawValue,
                plan: change.plan,
                name: name(change),
                changedAt: change.changedAt.iso8601,
                fields: fields[change.id]
            )
        }
    }

    /// The notice that a poll has had no success for long (R-NOT-14), or that it has again.
    ///
    /// - Parameters:
    ///   - lastSuccess: `nil` when it never had one.
    ///   - isOver: Whether the poll has had a success since; takes the notice back.
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
        (group, count, changes) = (.single, 0, [])
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
        actions = [NotificationAction.dismiss.rawValue]
        actionLabels = [NotificationAction.dismiss.rawValue: messages.text(.staleDismiss)]
        repeats = nil
        priority = "low"
        cleared = isOver ? true : nil
    }

    /// The same notification once more, after a snooze, with an id of its own.
    public func repeated(id: String, of first: String) -> NotificationMessage {
        var copy = self
        copy.id = id
        copy.repeats = first
        return copy
    }

    /// The JSON that webhooks, commands and files get: keys sorted, so that every retry sends the same bytes.
    public func json() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings, integers and arrays of them always encode.
        return (try? encoder.encode(self)).map(Array.init) ?? []
    }

    /// What ``json()`` wrote, also by an older version; `nil` for anything else.
    public init?(json: [UInt8]) {
        guard let message = try? JSONDecoder().decode(Self.self, from: Data(json)) else { return nil }
        self = message
    }

    /// Whether so many changes need a shortlink in the link's place (R-NOT-08).
    public static func needsShortlink(_ count: Int, largestGroup: Int) -> Bool {
        NotificationGroup(count: count, largest: largestGroup) == .many || count > LinkedJWTs.limit
    }

    /// Where a tap leads (R-NOT-07). Without a shortlink for what needs one, to the list of notifications.
    private static func link(
        to changes: [Change],
        of group: NotificationGroup,
        shortlink: Shortlink?
    ) -> DeepLink {
        if group == .single, let change = changes.first { return DeepLink(plan: change.plan, jwt: change.id) }
        if group == .several, let jwts = LinkedJWTs(changes.map(\.id)) { return .updates(jwts) }
        return shortlink.map { .shortlink($0) } ?? .notifications
    }
}
