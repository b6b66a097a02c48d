import Crypto
import Foundation

extension EndorserDialect {
    /// Encodes the parts of a row that this dialect's pages use.
    static func encode(_ row: inout ChangeRow) {
        row.encoded = plan(row, hidden: false).bytes
        row.encodedHidden = plan(row, hidden: true).bytes
        row.claim = claim(row, hidden: false).bytes
        row.claimHidden = claim(row, hidden: true).bytes
    }

    /// `plansLastUpdatedBetween`, by GET or POST.
    static func changes(
        _ request: IncomingRequest,
        _ requester: Requester,
        _ violation: MockSchemaViolation?,
        _ state: inout MockState
    ) -> Reply {
        let query: ChangesQuery
        if request.method == "GET" {
            guard let text = request.parameter("planIds") else {
                return badRequest("planIds JSONified array parameter is required")
            }
            guard let ids = try? JSONDecoder().decode([String].self, from: Data(text.utf8)) else {
                return badRequest("Invalid planIds format. Should be a JSON array of strings.")
            }
            query = ChangesQuery(
                planIDs: ids,
                afterID: request.parameter("afterId"),
                beforeID: request.parameter("beforeId")
            )
        } else {
            guard request.hasJSONBody, let parsed = state.query(of: request.body),
                parsed.problem?.field != "planIds"
            else { return badRequest("planIds array parameter is required") }
            query = parsed
        }
        // The order of the real checks: an empty array without afterId is a 400.
        guard let after = query.afterID, !after.isEmpty else { return badRequest("afterId parameter is required") }
        // A stuck page ignores the cursor.
        let before = violation == .stuckPage ? nil : query.beforeID
        let rows = state.log.descending(plans: query.planIDs, after: after, before: before, limit: pageSize)
        let hidden = requester.did == nil
        var page: JSONValue = [
            "data": .array(
                rows.map { row in
                    let before = state.log.version(of: row.plan.id, before: after)
                    return item(row, before: before, hidden: hidden, encoded: violation == nil)
                }
            ),
            "hitLimit": .bool(rows.count == pageSize),
        ]
        if let violation {
            PageViolation.apply(violation, to: &page, .init(dialect: .endorser, cursor: query.beforeID))
        }
        return .json(200, page)
    }

    private static func badRequest(_ text: String) -> Reply {
        .json(400, ["error": .string(text)])
    }

    private static func item(_ row: ChangeRow, before: ChangeRow?, hidden: Bool, encoded: Bool) -> JSONValue {
        let planValue: JSONValue =
            encoded ? .encoded(hidden ? row.encodedHidden : row.encoded) : plan(row, hidden: hidden)
        var item: JSONValue = ["plan": planValue]
        if let before { item["wrappedClaimBefore"] = .encoded(hidden ? before.claimHidden : before.claim) }
        return item
    }

    private static func plan(_ row: ChangeRow, hidden: Bool) -> JSONValue {
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
            "claim": [
                "@context": "https://schema.org", "@type": "PlanAction", "name": .string(plan.name),
                "description": .string(plan.description),
            ],
            "lastClaimId": .null, "claimCanonHash": .string(hash), "noncedHashAllChain": .null,
        ]
    }
}
