/// One version of a plan, as a page may hold it. The encoded parts are made once, when it is published.
struct ChangeRow: Sendable {
    let id: String
    let plan: MockPlan
    /// The number of this version of the plan, from 1.
    let version: Int
    /// Whole seconds since 1970, on the server's clock.
    let changedAt: Int
    /// The plan's previous claim as it was when this version was published; canonical dialect only.
    var previousClaim: [UInt8]?
    /// The item (canonical) or the item's plan (endorser).
    var encoded: [UInt8] = []
    /// ``encoded`` with its DIDs hidden; empty in the canonical dialect.
    var encodedHidden: [UInt8] = []
    /// This version, as the claim before a later one.
    var claim: [UInt8] = []
    /// ``claim`` with its DIDs hidden; empty in the canonical dialect.
    var claimHidden: [UInt8] = []
}

/// An offer, as the two offer reports hold it.
struct OfferRow: Sendable {
    let id: String
    let handleID: String
    let recipientDID: String
    let offeredByDID: String
    let plan: MockPlan
    let amount: Int
    let unit: String
    let description: String
    /// Whole seconds since 1970, on the server's clock.
    let issuedAt: Int
}
