/// The kinds of polls.
public enum PollKind: String, Sendable, CaseIterable, Codable {
    /// Changes of plans that the identity has starred.
    case starredProjects = "starred_projects"
    /// Offers made to the identity.
    case offersToMe = "offers_to_me"
    /// Offers made to the identity's own plans.
    case offersToMyProjects = "offers_to_my_projects"

    /// The account preference that disables this kind of poll.
    public var preference: String {
        switch self {
        case .starredProjects: "starredProjects"
        case .offersToMe: "offersToMe"
        case .offersToMyProjects: "offersToMyProjects"
        }
    }

    /// Whether the poll needs a token. Without one, the server answers as if there were no offers, and a cursor moved by
    /// that answer would skip some.
    public var needsToken: Bool {
        switch self {
        case .starredProjects: false
        case .offersToMe, .offersToMyProjects: true
        }
    }

    /// Whether polls of the two kinds can have the same claim. An offer to a person can be for a plan of that person.
    public func overlaps(_ other: PollKind) -> Bool {
        switch (self, other) {
        case (.starredProjects, .starredProjects): true
        case (.starredProjects, _), (_, .starredProjects): false
        case (.offersToMe, _), (.offersToMyProjects, _): true
        }
    }

    /// The endpoint of this kind of poll.
    public var endpoint: Endpoint {
        switch self {
        case .starredProjects: .plansChanged
        case .offersToMe: .offersToMe
        case .offersToMyProjects: .offersToMyProjects
        }
    }
}

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
