/// A row of the report of claims, which has each version of a claim.
struct ClaimRow: Sendable {
    let id: String
    let handleID: String
    let issuerDID: String
    let type: String
    let issuedAt: Int
    let claim: JSONValue

    init(_ row: OfferRow, _ type: String, _ claim: JSONValue) {
        (id, handleID, issuerDID, issuedAt) = (row.id, row.handleID, row.offeredByDID, row.issuedAt)
        (self.type, self.claim) = (type, claim)
    }
}
