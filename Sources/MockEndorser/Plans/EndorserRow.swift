import Crypto
import Foundation

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
