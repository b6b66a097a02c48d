import Foundation

extension EndorserDialect {
    /// `plansLastUpdatedBetween`, by GET or POST.
    static func changes(_ call: APICall, from requester: Requester, _ state: inout MockState) -> Reply {
        let (request, violation) = (call.request, call.violation)
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
            encoded ? .encoded(hidden ? row.encodedHidden : row.encoded) : EndorserRow.plan(row, hidden: hidden)
        var item: JSONValue = ["plan": planValue]
        if let before { item["wrappedClaimBefore"] = .encoded(hidden ? before.claimHidden : before.claim) }
        return item
    }
}
