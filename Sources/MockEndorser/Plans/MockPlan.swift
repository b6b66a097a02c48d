/// A plan ("project") in the mock's catalogue, in its current version.
public struct MockPlan: Sendable, Hashable {
    /// The handle: `https://endorser.ch/entity/<ULID>`, or `[a-zA-Z0-9_-]+` in the canonical dialect.
    public var id: String
    public var name: String
    public var description: String
    public var issuerDID: String
    /// The agent's DID; the issuer's by default.
    public var agentDID: String
    /// ISO 8601 in whole seconds, with `Z`.
    public var startTime = "2026-01-01T00:00:00Z"
    /// ISO 8601 in whole seconds, with `Z`.
    public var endTime = "2026-12-31T23:59:59Z"
    /// Degrees north; `nil` for a plan without a location.
    public var latitude: Double?
    /// Degrees east; `nil` for a plan without a location.
    public var longitude: Double?
    public var url: String?
    /// The plan that this one fulfils; `nil` for none. Only the report of plans tells it.
    public var fulfilledID: String?

    public init(id: String, name: String, description: String = "", issuerDID: String, agentDID: String? = nil) {
        (self.id, self.name, self.description, self.issuerDID) = (id, name, description, issuerDID)
        self.agentDID = agentDID ?? issuerDID
    }
}

/// A change to publish: a new version of a plan.
public struct MockChange: Sendable {
    /// The changed plan. A plan that is not in the catalogue is added.
    public var planID: String
    /// The change's identifier; `nil` generates one from the server's clock.
    public var id: String?
    /// The plan's new name; `nil` keeps the current one.
    public var name: String?
    /// The plan's new description; `nil` generates one.
    public var description: String?
    /// The JSON of the claim, which its author decides; `nil` makes one of the plan. The server shows it as the claim before
    /// the next version.
    public var claim: String?
    /// Age of the identifier at publication. With an age above zero it can sort before identifiers that a client has
    /// already seen.
    public var age: Duration
    /// Delay between publication and visibility in responses.
    public var visibleAfter: Duration
    /// The person who makes the change; `nil` for ``MockServerOptions/authorDID``. The plan's agent stays.
    public var issuerDID: String?

    public init(
        planID: String,
        id: String? = nil,
        name: String? = nil,
        description: String? = nil,
        claim: String? = nil,
        age: Duration = .zero,
        visibleAfter: Duration = .zero
    ) {
        (self.planID, self.id, self.name, self.description) = (planID, id, name, description)
        (self.claim, self.age, self.visibleAfter) = (claim, age, visibleAfter)
    }
}

/// The plans of the mock in order, each in its current version.
struct PlanCatalogue: Sendable {
    private(set) var plans: [MockPlan] = []
    private var indexOfPlan: [String: Int] = [:]

    /// Replaces all plans.
    mutating func replace(by plans: [MockPlan]) {
        self = PlanCatalogue()
        for plan in plans { add(plan) }
    }

    /// Adds a plan, or replaces the one with its identifier.
    mutating func add(_ plan: MockPlan) {
        if let index = indexOfPlan[plan.id] {
            plans[index] = plan
        } else {
            indexOfPlan[plan.id] = plans.count
            plans.append(plan)
        }
    }

    /// The plan with an identifier; `nil` if the catalogue has none.
    subscript(id: String) -> MockPlan? { indexOfPlan[id].map { plans[$0] } }
}
