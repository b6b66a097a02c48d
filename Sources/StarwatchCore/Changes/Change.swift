/// One change on the server: of a starred plan, or of an offer.
public struct Change: Sendable, Hashable, Codable {
    public let id: JWTID
    /// The handle of the plan or the offer; opaque (R-EP-03).
    public let plan: String
    /// The name to show; `nil` if the server sent none.
    public let name: String?
    /// The time of the change by the server's clock, from the identifier.
    public var changedAt: Timestamp { id.timestamp }

    public init(id: JWTID, plan: String, name: String?) {
        self.id = id
        self.plan = plan
        self.name = name
    }
}
