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
