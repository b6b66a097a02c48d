/// The endpoints of the mock. Each has its own faults and its own count of requests.
public enum MockEndpoint: String, Sendable, CaseIterable {
    case plansChanged = "plans_changed"
    case offersToMe = "offers_to_me"
    case offersToMyProjects = "offers_to_my_projects"
    case offersToPlans = "offers_to_plans"
    case givesToMe = "gives_to_me"
    case givesToPlans = "gives_to_plans"
    case plans
    case claims
    case acknowledge
    case time
    /// The webhook receiver, `/hook`.
    case hook
    /// A digest's content, `/content`: JSON with an ETag.
    case content
    /// The receiver of digest callbacks, `/callback`.
    case callback
    /// A ``MockList``.
    case list
    /// Any other path.
    case other

    /// Creates the endpoint of a path; ``other`` for an unknown path.
    init(path: String) {
        switch path {
        case "/api/v2/report/plansLastUpdatedBetween": self = .plansChanged
        case "/api/v2/report/offers": self = .offersToMe
        case "/api/v2/report/offersToPlansOwnedByMe": self = .offersToMyProjects
        case "/api/v2/report/offersToPlans": self = .offersToPlans
        case "/api/v2/report/gives": self = .givesToMe
        case "/api/v2/report/givesToPlans": self = .givesToPlans
        case "/api/v2/report/plans": self = .plans
        case "/api/v2/report/claims": self = .claims
        case "/api/v2/plans/acknowledge": self = .acknowledge
        case "/api/v2/time": self = .time
        case "/hook": self = .hook
        case "/content": self = .content
        case "/callback": self = .callback
        default: self = .other
        }
    }
}
