/// One change on the server: of a starred plan, of an offer or a gift, or of an item of a list.
public struct Change: Sendable, Hashable, Codable {
    public let id: JWTID
    /// The handle of the plan, the offer or the gift, or the id of the item; opaque.
    public let plan: String
    /// The name to show; `nil` if the server sent none.
    public let name: String?
    /// Whether ``plan`` is the handle of an offer or a gift for which the server names no plan.
    public let isOffer: Bool
    /// Whether this is an edition of an offer or a gift that was made before the cursor of the cycle.
    public let isEdition: Bool
    /// Whether this is a gift that honours an offer, as the server or the gift's author says.
    public let fulfillsOffer: Bool
    /// The link and the fields of a list's item; `nil` if it has none, and for all other changes.
    public var details: ItemDetails?
    /// The time of the change by the server's clock, from the identifier.
    public var changedAt: Timestamp { id.timestamp }

    public init(
        id: JWTID,
        plan: String,
        name: String?,
        isOffer: Bool = false,
        isEdition: Bool = false,
        fulfillsOffer: Bool = false
    ) {
        (self.id, self.plan, self.name) = (id, plan, name)
        (self.isOffer, self.isEdition, self.fulfillsOffer) = (isOffer, isEdition, fulfillsOffer)
    }
}
