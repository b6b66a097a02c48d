/// What a poll asks the server for.
public enum PollKind: String, Sendable, CaseIterable, Codable {
    /// Changes of the plans that the identity has starred.
    case starredProjects = "starred_projects"
    /// Offers made to the identity.
    case offersToMe = "offers_to_me"
    /// Offers made to the identity's own plans.
    case offersToMyProjects = "offers_to_my_projects"

    /// The flag of the account's preferences that switches it off.
    public var preference: String {
        switch self {
        case .starredProjects: "starredProjects"
        case .offersToMe: "offersToMe"
        case .offersToMyProjects: "offersToMyProjects"
        }
    }

    /// The endpoint that answers this kind of poll.
    public var endpoint: Endpoint {
        switch self {
        case .starredProjects: .plansChanged
        case .offersToMe: .offersToMe
        case .offersToMyProjects: .offersToMyProjects
        }
    }
}
