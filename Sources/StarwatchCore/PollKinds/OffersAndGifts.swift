extension PollKind {
    /// Offers made to the identity.
    public static let offersToMe = PollKind("offers_to_me", .offer, .recipient, at: .offersToMe)
    /// Offers made to the identity's own plans.
    public static let offersToMyProjects = PollKind("offers_to_my_projects", .offer, .token, at: .offersToMyProjects)
    /// Offers made to plans that the identity has starred.
    public static let offersToStarred = PollKind("offers_to_starred", .offer, .starredPlans, at: .offersToPlans)
    /// Gifts to the identity.
    public static let givesToMe = PollKind("gives_to_me", .give, .recipient, at: .givesToMe)
    /// Gifts to the identity's own plans.
    public static let givesToMyProjects = PollKind("gives_to_my_projects", .give, .ownPlans, at: .givesToPlans)
    /// Gifts to plans that the identity has starred.
    public static let givesToStarred = PollKind("gives_to_starred", .give, .starredPlans, at: .givesToPlans)

    /// The kinds differ in what is given and to whom, and so do their texts.
    private init(_ name: String, _ item: PollTraits.Item, _ scope: PollTraits.Scope, at endpoint: Endpoint) {
        let (all, one) = item == .offer ? ("Offers made", "offer") : ("Gifts", "gift")
        let (announced, leftOut) =
            switch scope {
            case .starredPlans: ("starred projects", "a starred project")
            case .ownPlans, .token: ("the account's own projects", "a project of the account")
            case .recipient, .links, .list: ("the account", "the account")
            }
        self.init(
            PollTraits(
                name: name,
                item: item,
                endpoint: endpoint,
                scope: scope,
                announced: "\(all) to \(announced)",
                leftOut: "no \(one) to \(leftOut)"
            )
        )
    }
}
