/// One thing that changed on the server: a starred plan, or an offer.
public struct Change: Sendable, Hashable, Codable {
    public let id: JWTID
    /// The plan's handle, or the offer's; opaque (R-EP-03).
    public let plan: String
    /// The name to show; `nil` when the server gave none.
    public let name: String?
    /// When it changed, in the server's time: the time in its identifier.
    public var changedAt: Timestamp { id.timestamp }

    public init(id: JWTID, plan: String, name: String?) {
        self.id = id
        self.plan = plan
        self.name = name
    }
}
