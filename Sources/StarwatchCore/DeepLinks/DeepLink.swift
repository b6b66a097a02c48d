/// Where a tap leads in the app (R-NOT-07). It renders to one URL, and is read from any that means the same.
public enum DeepLink: Sendable, Hashable {
    /// The updates of up to ten JWTs.
    case updates(LinkedJWTs)
    /// The updates that a shortlink stands for.
    case shortlink(Shortlink)
    /// A project, at one of its JWTs.
    case project(ProjectHandle, jwt: JWTID?)
    /// The list of notifications; where what cannot be found any more leads.
    case notifications
    /// What the app says of starred projects.
    case feature

    /// `timesafari`.
    public static let scheme = "timesafari"

    /// The link itself. Handles are percent-encoded whole, because an IRI is one only with its host (C-177).
    public var url: String {
        let path =
            switch self {
            case .updates(let jwts):
                "projects/updates?jwtIds=" + jwts.ids.map(\.rawValue).joined(separator: ",")
            case .shortlink(let shortlink): "projects/updates?shortlink=\(shortlink.rawValue)"
            case .project(let handle, let jwt):
                "projects/\(PercentEncoding.encode(handle.rawValue))/details"
                    + (jwt.map { "?jwtId=\($0.rawValue)" } ?? "")
            case .notifications: "notifications/starred-projects"
            case .feature: "features/starred-projects"
            }
        return "\(Self.scheme)://\(path)"
    }

    /// The link to one change of a plan; to its updates where its handle cannot stand in a link.
    public init(plan: String, jwt: JWTID) {
        self = ProjectHandle(plan).map { .project($0, jwt: jwt) } ?? .updates(LinkedJWTs(jwt))
    }
}

/// One to ten JWTs: what fits into a link (R-VAL-08).
public struct LinkedJWTs: Sendable, Hashable {
    /// The most that a link holds.
    public static let limit = 10

    /// In the order given.
    public let ids: [JWTID]

    /// `nil` unless there are one to ten.
    public init?(_ ids: [JWTID]) {
        guard (1...Self.limit).contains(ids.count) else { return nil }
        self.ids = ids
    }

    public init(_ id: JWTID) { ids = [id] }
}

/// What identifies a project: opaque, mostly an IRI.
public struct ProjectHandle: Sendable, Hashable {
    public let rawValue: String

    /// `nil` when it is empty, longer than 2,048 bytes, or has control characters; and for `.` and `..`, which a reader of
    /// paths takes for something else.
    public init?(_ text: some StringProtocol) {
        guard text != ".", text != ".." else { return nil }
        guard (1...2048).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else { return nil }
        rawValue = String(text)
    }
}

/// The id of a shortlink: what it stands for, the agent knows for a day (C-178).
public struct Shortlink: Sendable, Hashable {
    /// 24 hours (R-NOT-08).
    public static let lifetime = Duration.seconds(86_400)

    public let rawValue: String

    /// `nil` unless `text` is 1 to 64 letters, digits, `-` and `_`.
    public init?(_ text: some StringProtocol) {
        let isPlain = text.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
        guard isPlain, (1...64).contains(text.utf8.count) else { return nil }
        rawValue = String(text)
    }
}
