/// A destination in the app. It renders to one URL and parses from every equivalent one.
public enum DeepLink: Sendable, Hashable {
    /// The changes with up to ten JWT IDs.
    case updates(LinkedJWTs)
    /// The changes behind a shortlink.
    case shortlink(Shortlink)
    /// A project, optionally at one of its changes.
    case project(ProjectHandle, jwt: JWTID?)
    /// The list of notifications. Also the destination for content that no longer exists.
    case notifications
    /// The app's page about starred projects.
    case feature

    /// `timesafari`.
    public static let scheme = "timesafari"

    /// The URL. Handles are percent-encoded completely, because an IRI is only complete with its host.
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

    /// Links to one change of a plan; to the list of changes when a link cannot contain the plan's handle.
    public init(plan: String, jwt: JWTID) {
        self = ProjectHandle(plan).map { .project($0, jwt: jwt) } ?? .updates(LinkedJWTs(jwt))
    }
}

/// One to ten JWT IDs, the number that fits into a link.
public struct LinkedJWTs: Sendable, Hashable {
    /// The largest number of JWT IDs in a link.
    public static let limit = 10

    /// In the order given.
    public let ids: [JWTID]

    /// `nil` unless there are one to ten JWT IDs.
    public init?(_ ids: [JWTID]) {
        guard (1...Self.limit).contains(ids.count) else { return nil }
        self.ids = ids
    }

    public init(_ id: JWTID) { ids = [id] }
}

/// The identifier of a project: opaque, usually an IRI.
public struct ProjectHandle: Sendable, Hashable {
    public let rawValue: String

    /// `nil` if the text is empty, longer than 2,048 bytes, contains control characters, or is `.` or `..`, which are
    /// path segments with a meaning of their own.
    public init?(_ text: some StringProtocol) {
        guard text != ".", text != ".." else { return nil }
        guard (1...2048).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else { return nil }
        rawValue = String(text)
    }
}

/// The id of a shortlink. The agent knows its changes for a day.
public struct Shortlink: Sendable, Hashable {
    /// 24 hours.
    public static let lifetime = Duration.seconds(86_400)

    public let rawValue: String

    /// `nil` unless `text` is 1 to 64 letters, digits, `-` and `_`.
    public init?(_ text: some StringProtocol) {
        let isPlain = text.utf8.allSatisfy { $0.isAlphanumeric || "-_".utf8.contains($0) }
        guard isPlain, (1...64).contains(text.utf8.count) else { return nil }
        rawValue = String(text)
    }
}

/// The reason for rejecting a deep link. The texts quote nothing of it, because links name changes and projects.
public enum DeepLinkError: Error, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    case notALink
    case unknownRoute
    case missingParameter
    case unknownParameter
    case repeatedParameter
    case conflictingParameters
    case tooManyJWTs
    case invalidJWT
    case invalidProject
    case invalidShortlink

    public var description: String {
        switch self {
        case .notALink: "A deep link starts with timesafari://."
        case .unknownRoute: "The app has no such route."
        case .missingParameter: "At least one of jwtIds, projectId, or shortlink must be provided."
        case .unknownParameter: "The link has a parameter that its route does not accept."
        case .repeatedParameter: "The link has a parameter twice."
        case .conflictingParameters: "A link has jwtIds or a shortlink, not both."
        case .tooManyJWTs: "Too many JWT IDs, use shortlink instead."
        case .invalidJWT: "The link has an invalid JWT ID."
        case .invalidProject: "The link has an invalid project id."
        case .invalidShortlink: "The link has an invalid shortlink."
        }
    }
}
