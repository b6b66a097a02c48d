/// One version of a plan. Its encoded parts are created once, on publication.
struct ChangeRow: Sendable {
    let id: String
    let plan: MockPlan
    /// The number of this version of the plan, from 1.
    let version: Int
    /// Whole seconds since 1970, on the server's clock.
    let changedAt: Int
    /// The JSON of the claim; `nil` makes one of the plan.
    var claimContent: [UInt8]?
    /// The plan's previous claim at the time of publication; canonical dialect only.
    var previousClaim: [UInt8]?
    /// The JSON of the item (canonical) or of the item's plan (endorser).
    var encoded: [UInt8] = []
    /// ``encoded`` with hidden DIDs; empty in the canonical dialect.
    var encodedHidden: [UInt8] = []
    /// The JSON of this version, for the previous claim of a later version.
    var claim: [UInt8] = []
    /// ``claim`` with hidden DIDs; empty in the canonical dialect.
    var claimHidden: [UInt8] = []
}

/// An offer of the two offer reports.
struct OfferRow: Sendable {
    let id: String
    var handleID: String
    let recipientDID: String
    let offeredByDID: String
    let plan: MockPlan
    let amount: Int
    let unit: String
    let description: String
    /// Whole seconds since 1970, on the server's clock.
    let issuedAt: Int
    /// The JSON of the claim; `nil` makes one of the offer.
    var claimContent: [UInt8]?
    /// Whether the offer is to a person and for no plan.
    var isWithoutPlan = false
}
