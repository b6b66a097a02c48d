/// The kinds of polls.
public enum PollKind: String, Sendable, CaseIterable, Codable {
    /// Changes of plans that the identity has starred.
    case starredProjects = "starred_projects"
    /// Offers made to the identity.
    case offersToMe = "offers_to_me"
    /// Offers made to the identity's own plans.
    case offersToMyProjects = "offers_to_my_projects"
    /// Offers made to plans that the identity has starred.
    case offersToStarred = "offers_to_starred"
    /// Gifts to the identity.
    case givesToMe = "gives_to_me"
    /// Gifts to the identity's own plans.
    case givesToMyProjects = "gives_to_my_projects"
    /// Gifts to plans that the identity has starred.
    case givesToStarred = "gives_to_starred"

    /// The kind of a poll that is no longer configured, whose changes can still be announced. Its name tells, because most polls
    /// have the name of their kind.
    package init(former poll: PollName) { self = PollKind(rawValue: poll.rawValue) ?? .starredProjects }

    /// The account preference that disables this kind of poll.
    public var preference: String {
        switch self {
        case .starredProjects: "starredProjects"
        case .offersToMe: "offersToMe"
        case .offersToMyProjects: "offersToMyProjects"
        case .offersToStarred: "offersToStarred"
        case .givesToMe: "givesToMe"
        case .givesToMyProjects: "givesToMyProjects"
        case .givesToStarred: "givesToStarred"
        }
    }

    /// Whether the poll needs a token. Without one, the server answers as if there were no offers, and a cursor moved by
    /// that answer would skip some.
    public var needsToken: Bool {
        switch self {
        case .starredProjects, .offersToStarred, .givesToStarred: false
        case .offersToMe, .offersToMyProjects, .givesToMe, .givesToMyProjects: true
        }
    }

    /// The plans that the requests of a poll name.
    public enum NamedPlans: Sendable {
        case starred
        /// Those that the identity issued, or is the agent of.
        case own
    }

    /// The plans that the poll's requests name; `nil` if they name none.
    public var namedPlans: NamedPlans? {
        switch self {
        case .starredProjects, .offersToStarred, .givesToStarred: .starred
        case .givesToMyProjects: .own
        case .offersToMe, .offersToMyProjects, .givesToMe: nil
        }
    }

    /// Whether only the claims of the poll's items name their plans.
    package var namesPlanInClaim: Bool { self == .offersToStarred }

    /// Whether the poll asks for nothing while the identity has no stars.
    public var needsStars: Bool { namedPlans == .starred }

    /// A place of plans in a request.
    public enum PlanForm: Sendable, Hashable {
        /// The JSON body of a POST.
        case body
        /// A parameter of a GET.
        case query
    }

    /// The place of the named plans in a request.
    public var planForm: PlanForm { self == .starredProjects ? .body : .query }

    /// Whether the requests name the identity as the recipient.
    public var namesRecipient: Bool { self == .offersToMe || self == .givesToMe }

    /// Whether polls of the two kinds can have the same claim. An offer to a person can be for a plan of that person.
    public func overlaps(_ other: PollKind) -> Bool { claims == other.claims }

    /// Whether the poll's items are gifts.
    package var isOfGifts: Bool { claims == .gives }

    private enum Claims { case plans, offers, gives }

    private var claims: Claims {
        switch self {
        case .starredProjects: .plans
        case .offersToMe, .offersToMyProjects, .offersToStarred: .offers
        case .givesToMe, .givesToMyProjects, .givesToStarred: .gives
        }
    }

    /// The endpoint of this kind of poll.
    public var endpoint: Endpoint {
        switch self {
        case .starredProjects: .plansChanged
        case .offersToMe: .offersToMe
        case .offersToMyProjects: .offersToMyProjects
        case .offersToStarred: .offersToPlans
        case .givesToMe: .givesToMe
        case .givesToMyProjects, .givesToStarred: .givesToPlans
        }
    }

    /// All endpoints that the poll asks.
    public var endpoints: [Endpoint] { namedPlans == .own ? [.plans, endpoint] : [endpoint] }
}

/// The endpoints of an Endorser server that the agent calls.
public enum Endpoint: String, Sendable, CaseIterable {
    case plansChanged = "plans_changed"
    case offersToMe = "offers_to_me"
    case offersToMyProjects = "offers_to_my_projects"
    case offersToPlans = "offers_to_plans"
    case givesToMe = "gives_to_me"
    case givesToPlans = "gives_to_plans"
    case plans
    case acknowledge
    case time

    /// The path below the server's base URL.
    public var path: String {
        switch self {
        case .plansChanged: "/api/v2/report/plansLastUpdatedBetween"
        case .offersToMe: "/api/v2/report/offers"
        case .offersToMyProjects: "/api/v2/report/offersToPlansOwnedByMe"
        case .offersToPlans: "/api/v2/report/offersToPlans"
        case .givesToMe: "/api/v2/report/gives"
        case .givesToPlans: "/api/v2/report/givesToPlans"
        case .plans: "/api/v2/report/plans"
        case .acknowledge: "/api/v2/plans/acknowledge"
        case .time: "/api/v2/time"
        }
    }

    /// Whether a server can lack the endpoint and still be one that the agent works with.
    public var isOptional: Bool {
        switch self {
        case .plansChanged, .offersToMe, .offersToMyProjects: false
        case .offersToPlans, .givesToMe, .givesToPlans, .plans, .acknowledge, .time: true
        }
    }
}
