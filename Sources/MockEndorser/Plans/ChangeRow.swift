import Crypto
import Foundation

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

/// An offer or a gift, for the reports of each.
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
    /// The JSON of the claim; `nil` makes one.
    var claimContent: [UInt8]?
    /// The links of an offer to its plan, in its claim; `nil` for a gift.
    var link: OfferLink?
    /// Whether it is to a person and for no plan.
    var isWithoutPlan = false
    /// The handle of the offer that a gift honours; `nil` for none.
    var offerHandleID: String?
}

/// Encodes changes for the pages of the canonical dialect.
enum CanonicalRow {
    /// Encodes the parts of a row that the dialect's pages use.
    static func encode(_ row: inout ChangeRow) {
        row.encoded = item(row).bytes
        let time = JSONValue.string(ClockText.iso(row.changedAt))
        let claim: JSONValue = [
            "jwtId": .string(row.id), "claimType": "project_update",
            "claimData": row.claimContent.map(JSONValue.encoded) ?? [
                "status": "in_progress", "name": .string(row.plan.name), "description": .string(row.plan.description),
                "version": .integer(row.version),
            ],
            "metadata": ["createdAt": time, "updatedAt": time],
        ]
        row.claim = claim.bytes
    }

    static func item(_ row: ChangeRow) -> JSONValue {
        let plan = row.plan
        var summary: JSONValue = [
            "jwtId": .string(row.id), "handleId": .string(plan.id), "name": .string(plan.name),
            "description": .string(plan.description), "issuerDid": .string(plan.issuerDID),
            "agentDid": .string(plan.agentDID), "startTime": .string(plan.startTime),
            "endTime": .string(plan.endTime),
            "locLat": plan.latitude.map(JSONValue.number) ?? .null,
            "locLon": plan.longitude.map(JSONValue.number) ?? .null,
        ]
        if let url = plan.url { summary["url"] = .string(url) }
        summary["version"] = .string("1.0.\(row.version - 1)")
        var item: JSONValue = ["planSummary": summary]
        if let previous = row.previousClaim { item["previousClaim"] = .encoded(previous) }
        return item
    }
}

/// Encodes changes for the pages of the endorser dialect.
enum EndorserRow {
    /// The replacement of a DID that the requester may not see.
    static let hiddenDID = "did:none:HIDDEN"

    /// Encodes the parts of a row that the dialect's pages use.
    static func encode(_ row: inout ChangeRow) {
        row.encoded = plan(row, hidden: false).bytes
        row.encodedHidden = plan(row, hidden: true).bytes
        row.claim = claim(row, hidden: false).bytes
        row.claimHidden = claim(row, hidden: true).bytes
    }

    /// The plan of a page's item.
    static func plan(_ row: ChangeRow, hidden: Bool) -> JSONValue {
        let plan = row.plan
        return [
            "jwtId": .string(row.id),
            "issuerDid": .string(hidden ? hiddenDID : plan.issuerDID),
            "agentDid": .string(hidden ? hiddenDID : plan.agentDID),
            "handleId": .string(plan.id), "internalId": .null,
            "name": .string(plan.name), "description": .string(plan.description), "image": .null,
            "endTime": .string(plan.endTime), "startTime": .string(plan.startTime),
            "resultDescription": .null, "resultIdentifier": .null, "url": JSONValue(plan.url),
            "locLat": plan.latitude.map(JSONValue.number) ?? .null,
            "locLon": plan.longitude.map(JSONValue.number) ?? .null,
            "fulfillsLinkConfirmed": 0, "fulfillsPlanHandleId": .null,
        ]
    }

    private static func claim(_ row: ChangeRow, hidden: Bool) -> JSONValue {
        let plan = row.plan
        let hash = Data(SHA256.hash(data: Data(row.id.utf8))).base64EncodedString()
        let did = JSONValue.string(hidden ? hiddenDID : plan.issuerDID)
        return [
            "id": .string(row.id), "handleId": .string(plan.id), "issuedAt": .string(ClockText.iso(row.changedAt)),
            "issuer": did, "subject": did, "claimContext": "https://schema.org", "claimType": "PlanAction",
            "claim": row.claimContent.map(JSONValue.encoded) ?? [
                "@context": "https://schema.org", "@type": "PlanAction", "name": .string(plan.name),
                "description": .string(plan.description),
            ],
            "lastClaimId": .null, "claimCanonHash": .string(hash), "noncedHashAllChain": .null,
        ]
    }
}
