/// One change on the server: of a starred plan, or of an offer or a gift.
public struct Change: Sendable, Hashable, Codable {
    public let id: JWTID
    /// The handle of the plan, the offer or the gift; opaque (R-EP-03).
    public let plan: String
    /// The name to show; `nil` if the server sent none.
    public let name: String?
    /// Whether ``plan`` is the handle of an offer or a gift for which the server names no plan.
    public let isOffer: Bool
    /// Whether this is an edition of an earlier offer or gift to a plan. Without a plan, ``plan`` tells it.
    public let isEdition: Bool
    /// The time of the change by the server's clock, from the identifier.
    public var changedAt: Timestamp { id.timestamp }

    /// Whether this is an edition of an earlier offer or gift.
    public var isEditedOffer: Bool { isEdition || isOffer && Self.isEdition(id, of: plan) }

    /// Whether an offer or a gift is an edition of an earlier one: its handle ends with another identifier, that of the
    /// first edition. A handle without an identifier does not tell.
    static func isEdition(_ id: JWTID, of handle: String) -> Bool {
        guard let last = handle.split(separator: "/").last, let first = JWTID(String(last)) else { return false }
        return first.kind == id.kind && first != id
    }

    public init(id: JWTID, plan: String, name: String?, isOffer: Bool = false, isEdition: Bool = false) {
        (self.id, self.plan, self.name) = (id, plan, name)
        (self.isOffer, self.isEdition) = (isOffer, isEdition)
    }
}
