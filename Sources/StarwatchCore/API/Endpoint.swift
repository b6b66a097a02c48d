/// The endpoints of an Endorser server that the agent calls.
public enum Endpoint: String, Sendable, CaseIterable {
    case plansChanged = "plans_changed"
    case offersToMe = "offers_to_me"
    case offersToMyProjects = "offers_to_my_projects"
    case acknowledge
    case time

    /// The path below the server's base URL.
    public var path: String {
        switch self {
        case .plansChanged: "/api/v2/report/plansLastUpdatedBetween"
        case .offersToMe: "/api/v2/report/offers"
        case .offersToMyProjects: "/api/v2/report/offersToPlansOwnedByMe"
        case .acknowledge: "/api/v2/plans/acknowledge"
        case .time: "/api/v2/time"
        }
    }
}
