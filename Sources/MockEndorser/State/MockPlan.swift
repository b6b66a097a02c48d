/// A plan ("project") as the mock's catalogue holds it: the version that is published next.
public struct MockPlan: Sendable, Hashable {
    /// The handle: `https://endorser.ch/entity/<ULID>`, or `[a-zA-Z0-9_-]+` in the canonical dialect.
    public var id: String
    public var name: String
    public var description: String
    public var issuerDID: String
    public var agentDID: String
    /// ISO 8601 in whole seconds, with `Z`.
    public var startTime: String
    /// ISO 8601 in whole seconds, with `Z`.
    public var endTime: String
    /// Degrees north, or `nil` for a plan without a place.
    public var latitude: Double?
    /// Degrees east, or `nil` for a plan without a place.
    public var longitude: Double?
    public var url: String?

    public init(
        id: String,
        name: String,
        description: String = "",
        issuerDID: String,
        agentDID: String? = nil,
        startTime: String = "2026-01-01T00:00:00Z",
        endTime: String = "2026-12-31T23:59:59Z",
        latitude: Double? = nil,
        longitude: Double? = nil,
        url: String? = nil
    ) {
        self.id = id
        self.name = name
        self.description = description
        self.issuerDID = issuerDID
        self.agentDID = agentDID ?? issuerDID
        self.startTime = startTime
        self.endTime = endTime
        self.latitude = latitude
        self.longitude = longitude
        self.url = url
    }
}

/// A change to publish: a new version of a plan.
public struct MockChange: Sendable {
    /// The plan that changes. One that is not in the catalogue is added to it.
    public var planID: String
    /// The change's id; `nil`: the next one, made from the server's clock.
    public var id: String?
    /// The plan's new name; `nil` leaves it.
    public var name: String?
    /// The plan's new description; `nil` takes one from the generator.
    public var description: String?
    /// How old the id is when it is published. Above zero it may sort before ids that a client has already seen.
    public var age: Duration
    /// How long after publishing the change begins to show in answers: the server's late visibility.
    public var visibleAfter: Duration

    public init(
        planID: String,
        id: String? = nil,
        name: String? = nil,
        description: String? = nil,
        age: Duration = .zero,
        visibleAfter: Duration = .zero
    ) {
        self.planID = planID
        self.id = id
        self.name = name
        self.description = description
        self.age = age
        self.visibleAfter = visibleAfter
    }
}
