/// Applies a schema violation to a page.
enum PageViolation {
    /// The facts about a page that a violation needs.
    struct Context {
        let dialect: MockDialect
        /// The cursor the client sent.
        let cursor: String?
    }

    /// Changes `page`, an object with `data`, `hitLimit` and optionally `pagination`.
    static func apply(_ violation: MockSchemaViolation, to page: inout JSONValue, _ context: Context) {
        let planKey = context.dialect == .canonical ? "planSummary" : "plan"
        switch violation {
        case .missingJWTID: changeFirst(&page, planKey) { $0["jwtId"] = nil }
        case .nullHandleID: changeFirst(&page, planKey) { $0["handleId"] = .null }
        case .wrongType: changeFirst(&page, planKey) { $0["handleId"] = 7 }
        case .dataNotArray: page["data"] = [:] as JSONValue
        case .unorderedPage:
            page["data"] = .array(items(of: page).reversed())
        case .stuckPage:
            page["hitLimit"] = true
            if context.dialect == .canonical {
                page["pagination"] = [
                    "hasMore": true, "nextAfterId": .string(context.cursor ?? CanonicalDialect.emptyCursor),
                ]
            }
        case .foreignID:
            let foreign = context.dialect == .canonical ? "01JZZZZZZZZZZZZZZZZZZZZZZZ" : "1767225600_abc123_def45678"
            changeFirst(&page, planKey) { $0["jwtId"] = .string(foreign) }
        case .hitLimitLies:
            if case .bool(let value) = page["hitLimit"] { page["hitLimit"] = .bool(!value) }
        case .missingPagination:
            page["hitLimit"] = nil
            page["pagination"] = nil
        }
    }

    private static func items(of page: JSONValue) -> [JSONValue] {
        guard case .array(let items) = page["data"] else { preconditionFailure("A page's data is an array.") }
        return items
    }

    /// Changes the plan of the first item. An empty page gets a generated item first.
    private static func changeFirst(_ page: inout JSONValue, _ planKey: String, _ change: (inout JSONValue) -> Void) {
        var items = items(of: page)
        if items.isEmpty {
            let id = planKey == "plan" ? "01JZZZZZZZZZZZZZZZZZZZZZZZ" : "1767225600_abc123_def45678"
            let plan: JSONValue = ["jwtId": .string(id), "handleId": "made_up", "name": "Made Up"]
            items = [.object([(planKey, plan)])]
        }
        var plan = items[0][planKey] ?? .object([])
        change(&plan)
        items[0][planKey] = plan
        page["data"] = .array(items)
    }
}

/// A request to the API, as a dialect answers it.
struct APICall {
    let request: IncomingRequest
    let endpoint: MockEndpoint
    /// The contract violation of the answer; `nil` for none.
    var violation: MockSchemaViolation?
}
