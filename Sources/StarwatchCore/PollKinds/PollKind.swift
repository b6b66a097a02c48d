/// A kind of poll. Each is declared in a file of this folder, with all that tells it from the others.
public struct PollKind: RawRepresentable, Sendable, Hashable, CaseIterable, Codable {
    /// All kinds, in the order of lists and of the lines of a notification.
    public static let allCases: [PollKind] = [
        starredProjects,
        offersToMe,
        offersToMyProjects,
        offersToStarred,
        givesToMe,
        givesToMyProjects,
        givesToStarred,
        givesForMyOffers,
        confirmationsOfMyClaims,
        projectsOfInterest,
        json,
    ]

    /// The kinds of polls of an Endorser server.
    public static let ofEndorser = allCases.filter { !$0.isList }

    /// The traits, and what follows from them, made once.
    private final class Box: Sendable {
        let traits: PollTraits
        let ownReport: PollTraits.OwnReport?
        let endpoints: [Endpoint]
        let preference: String

        init(_ traits: PollTraits) {
            self.traits = traits
            let words = traits.name.split(separator: "_")
            preference = words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
            ownReport =
                switch traits.scope {
                case .ownPlans: PollTraits.OwnReport(endpoint: .plans, roles: ["issuerDid", "agentDid"])
                case .links(let report): report
                case .starredPlans, .recipient, .token, .list: nil
                }
            endpoints = [ownReport?.endpoint, traits.endpoint].compactMap(\.self)
        }
    }

    private let box: Box
    package var traits: PollTraits { box.traits }

    init(_ traits: PollTraits) { box = Box(traits) }

    /// The kind with a name; `nil` if there is none.
    public init?(rawValue: String) {
        guard let kind = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = kind
    }

    /// The kind of a poll that is no longer configured, whose changes can still be announced. Its name tells, because most polls
    /// have the name of their kind.
    ///
    /// - Parameter isList: Whether it was a list, whose name can be any.
    package init(former poll: PollName, isList: Bool = false) {
        self = isList ? .json : PollKind(rawValue: poll.rawValue) ?? .starredProjects
    }

    public static func == (one: PollKind, other: PollKind) -> Bool { one.box === other.box }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(box)) }

    /// The name in the configuration, the database and JSON, and in the keys of texts.
    public var rawValue: String { traits.name }

    /// The account preference that disables this kind of poll: the name in another spelling.
    public var preference: String { box.preference }

    /// The part of the server's claims that the poll asks for.
    package var scope: PollTraits.Scope { traits.scope }

    /// Whether the poll asks for nothing while the identity has no stars.
    public var needsStars: Bool { scope == .starredPlans }

    /// Whether the poll needs a token. Without one, the server answers as if there were no offers, and a cursor moved by
    /// that answer would skip some.
    public var needsToken: Bool { !needsStars && !isList }

    /// Whether the poll asks for a list of any server, which its own settings describe.
    public var isList: Bool { scope == .list }

    /// Whether the requests name plans.
    package var namesPlans: Bool { scope == .starredPlans || scope == .ownPlans }

    /// Whether only claims count that link to one of the account's own.
    package var isOfLinks: Bool { if case .links = scope { true } else { false } }

    /// Whether accounts can share the requests, which then name no account and have no token.
    ///
    /// The server hides DIDs by the token, but no identifiers and handles. Without tokens all accounts see the same. With tokens
    /// they share only what they compare with identifiers and handles: an answer shows each whether a claim links to one of its
    /// own, and the account then asks for it alone. Polls that walk rows are not shared, because their pages are of one search.
    package func isShared(withTokens: Bool) -> Bool { withTokens ? isOfLinks && !walksRows : isOfPlans }

    /// The claims that an account takes of an answer, if the kind is shared: those of its stars, or those of anybody under the
    /// name of the kind.
    package func topics(of stars: [String]) -> [String] { isOfLinks ? [rawValue] : stars }

    /// The report of the account's own claims that the poll asks for too; `nil` for none. Anybody can name the account as the
    /// agent of any number of plans, so those that it issued come first.
    package var ownReport: PollTraits.OwnReport? { box.ownReport }

    /// Whether the poll's items are changes of plans that the account has starred.
    package var isOfPlans: Bool { traits.item == .plan }

    /// Whether the report's pages go by the numbers of rows, which an edit does not move, while the cursor is an identifier. Only
    /// all pages together then say how far the poll has seen.
    package var walksRows: Bool { traits.item == .project }

    /// Whether polls of the two kinds can have the same claim. An offer to a person can be for a plan of that person. Items of
    /// lists are no claims, and those of two lists have nothing in common.
    public func overlaps(_ other: PollKind) -> Bool {
        !isList && traits.item == other.traits.item || traits.hasPlans && other.traits.hasPlans
    }

    /// A place of plans in a request.
    public enum PlanForm: Sendable, Hashable {
        /// The JSON body of a POST.
        case body
        /// A parameter of a GET.
        case query
    }

    /// The place of the named plans in a request.
    public var planForm: PlanForm { isOfPlans ? .body : .query }

    /// The endpoint of this kind of poll.
    public var endpoint: Endpoint { traits.endpoint }

    /// All endpoints that the poll asks.
    public var endpoints: [Endpoint] { box.endpoints }
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
    case claims
    case acknowledge
    case time
    /// A list of any server, whose URL a poll's settings have.
    case list

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
        case .claims: "/api/v2/report/claims"
        case .acknowledge: "/api/v2/plans/acknowledge"
        case .time: "/api/v2/time"
        case .list: ""
        }
    }

    /// Whether a server can lack the endpoint and still be one that the agent works with.
    public var isOptional: Bool {
        switch self {
        case .plansChanged, .offersToMe, .offersToMyProjects, .list: false
        default: true
        }
    }
}
