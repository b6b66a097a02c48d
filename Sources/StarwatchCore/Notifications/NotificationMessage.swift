import FoundationEssentials

/// A notification as sinks get it. It is meant for the person, so it names projects; logs and metrics never do.
public struct NotificationMessage: Sendable, Hashable, Codable {
    /// One of the changes the notification is about.
    public struct Item: Sendable, Hashable, Codable {
        public let jwtID: String
        public let plan: String
        public let name: String?
        public let changedAt: String

        enum CodingKeys: String, CodingKey {
            case jwtID = "jwt_id"
            case plan, name
            case changedAt = "changed_at"
        }
    }

    public let id: String
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
    public let changes: [Item]

    enum CodingKeys: String, CodingKey {
        case id
        case runID = "run_id"
        case poll, group
        case collapseKey = "collapse_key"
        case count, title, body, locale
        case createdAt = "created_at"
        case deepLink = "deep_link"
        case actions, changes
    }

    /// The most changes listed; ``count`` is always true.
    public static let listedChanges = 100

    /// Composes the notification of `changes`, which must not be empty (R-NOT-01, R-NOT-02, R-NOT-06).
    ///
    /// - Parameters:
    ///   - id: Kept through every retry, so that sinks can tell a repetition.
    ///   - largestGroup: The largest group that is "several".
    public init(
        id: String,
        runID: String,
        poll: PollName,
        kind: PollKind,
        changes: [Change],
        largestGroup: Int,
        locale: String,
        createdAt: Timestamp
    ) {
        let wording = NotificationWording(kind: kind)
        self.id = id
        self.runID = runID
        self.poll = poll.rawValue
        self.group = NotificationGroup(count: changes.count, largest: largestGroup)
        self.collapseKey = poll.rawValue.replacing("_", with: "-")
        self.count = changes.count
        (self.title, self.body) = wording.text(
            count: changes.count,
            name: changes.first?.name
        )
        self.locale = locale
        self.createdAt = createdAt.iso8601
        self.deepLink = Self.deepLink(to: changes, of: group, notification: id)
        self.actions =
            group == .single
            ? ["view_project", "dismiss", "snooze_1h", "mark_read"]
            : ["view_updates", "dismiss", "snooze_1h", "mark_read"]
        self.changes = changes.prefix(Self.listedChanges).map { change in
            Item(
                jwtID: change.id.rawValue,
                plan: change.plan,
                name: change.name,
                changedAt: change.changedAt.iso8601
            )
        }
    }

    /// The JSON that webhooks, commands and files get: keys sorted, so that every retry sends the same bytes.
    public func json() -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings, integers and arrays of them always encode.
        return (try? encoder.encode(self)).map(Array.init) ?? []
    }

    /// Where a tap leads (R-NOT-07). More than ten identifiers do not fit a link, so it carries a shortlink (R-NOT-08).
    private static func deepLink(to changes: [Change], of group: NotificationGroup, notification: String) -> String {
        if group == .single, let change = changes.first {
            return "timesafari://projects/\(pathSegment(of: change.plan))/details?jwtId=\(change.id.rawValue)"
        }
        if group == .several, changes.count <= 10 {
            return "timesafari://projects/updates?jwtIds=" + changes.map(\.id.rawValue).joined(separator: ",")
        }
        return "timesafari://projects/updates?shortlink=\(notification)"
    }

    /// A plan handle as a path segment: the last part of an IRI, other characters percent-encoded.
    private static func pathSegment(of handle: String) -> String {
        let last = handle.split(separator: "/").last.map(String.init) ?? handle
        let hex = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in last.utf8 {
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"): bytes.append(byte)
            default: bytes.append(contentsOf: [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]])
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
