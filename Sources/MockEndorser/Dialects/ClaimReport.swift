import Foundation

/// The reports of offers, gifts and own plans, which both dialects filter alike.
enum ClaimReport {
    /// Whether the endpoint is a report of offers or gifts.
    static func has(_ endpoint: MockEndpoint) -> Bool {
        switch endpoint {
        case .offersToMe, .offersToMyProjects, .offersToPlans, .givesToMe, .givesToPlans: true
        default: false
        }
    }

    /// The rows that a request asks for, in the order of publication; `nil` if it names no list of plans where it must.
    ///
    /// Without verified tokens, every requester of the canonical dialect owns all plans, so that its reports work without
    /// keys.
    static func rows(_ call: APICall, from requester: Requester, _ state: MockState) -> [OfferRow]? {
        switch call.endpoint {
        case .offersToPlans: return planIDs(call.request).map { rows(state.offers, to: $0) }
        case .givesToPlans: return planIDs(call.request).map { rows(state.gives, to: $0) }
        case .offersToMyProjects:
            if state.options.dialect == .canonical, state.options.auth == .none { return state.offers }
            return state.offers.filter {
                requester.did != nil && [$0.plan.issuerDID, $0.plan.agentDID].contains(requester.did)
            }
        case let endpoint:
            let rows = endpoint == .givesToMe ? state.gives : state.offers
            let columns: [(name: String, value: (OfferRow) -> String?)] = [
                ("recipientDid", \.recipientDID), ("offeredByDid", \.offeredByDID),
                ("fulfillsType", { OfferJSON.links(of: $0).first?.type }),
            ]
            // The real server ignores the names of other columns, and then sends everybody's rows.
            return columns.reduce(rows) { rows, column in
                guard let wanted = call.request.parameter(column.name) else { return rows }
                return rows.filter { column.value($0) == wanted }
            }
        }
    }

    private static func rows(_ rows: [OfferRow], to plans: Set<String>) -> [OfferRow] {
        rows.filter { !$0.isWithoutPlan && plans.contains($0.plan.id) }
    }

    private static func planIDs(_ request: IncomingRequest) -> Set<String>? {
        guard let text = request.parameter("planIds") else { return nil }
        return (try? JSONDecoder().decode([String].self, from: Data(text.utf8))).map(Set.init)
    }

    /// The `plans` report, newest row first. Its pages go by the number of the row, in contrast to other reports, and an edit
    /// leaves a plan in its row. Texts sort above numbers, so that an identifier as `afterId` finds nothing, and as `beforeId` all.
    static func plans(_ request: IncomingRequest, _ state: MockState, hidden: Bool, pageSize: Int) -> Reply {
        func row(_ name: String) -> Int? { request.parameter(name).map { Int($0) ?? .max } }
        let (after, before) = (row("afterId") ?? 0, row("beforeId") ?? .max)
        var page: [JSONValue] = []
        for (index, plan) in state.catalogue.plans.enumerated().reversed() where page.count < pageSize {
            let last = state.log.versions[plan.id]?.last?.id
            let id = last ?? plan.id.split(separator: "/").last.map(String.init) ?? ""
            guard index + 1 > after, index + 1 < before, isFound(plan, id, by: request) else { continue }
            page.append(item(index + 1, id, of: plan, hidden: hidden))
        }
        var body: JSONValue = ["data": .array(page)]
        if page.count == pageSize { body["hitLimit"] = true }
        return .json(200, body)
    }

    /// Whether a plan matches all filters. The real server ignores the names of others.
    private static func isFound(_ plan: MockPlan, _ id: String, by request: IncomingRequest) -> Bool {
        func holds<Value: Comparable>(_ column: String, _ value: Value?, _ read: (String) -> Value?) -> Bool {
            let comparisons: [(suffix: String, holds: (Value, Value) -> Bool)] = [
                ("", ==), ("_greaterThan", >), ("_greaterThanOrEqualTo", >=), ("_lessThan", <),
                ("_lessThanOrEqualTo", <=),
            ]
            return comparisons.allSatisfy { suffix, holds in
                guard let bound = request.parameter(column + suffix) else { return true }
                // Null matches nothing.
                guard let value, let bound = read(bound) else { return false }
                return holds(value, bound)
            }
        }
        // A coordinate of exactly 0 is no place to the real server.
        let isPlaced = plan.latitude != 0 && plan.longitude != 0
        let text = { (text: String) in text }
        guard holds("jwtId", id, text), holds("issuerDid", plan.issuerDID, text),
            holds("agentDid", plan.agentDID, text),
            holds("locLat", isPlaced ? plan.latitude : nil, Double.init),
            holds("locLon", isPlaced ? plan.longitude : nil, Double.init)
        else { return false }
        let words = (request.parameter("claimContents") ?? "").split(separator: " ")
        return words.allSatisfy { word in
            [plan.name, plan.description].contains { asciiFolded($0).contains(asciiFolded(String(word))) }
        }
    }

    private static func asciiFolded(_ text: String) -> String {
        String(decoding: text.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }

    private static func item(_ row: Int, _ id: String, of plan: MockPlan, hidden: Bool) -> JSONValue {
        let latest = ChangeRow(id: id, plan: plan, version: 1, changedAt: 0)
        var item = EndorserRow.plan(latest, hidden: hidden)
        item["fulfillsPlanHandleId"] = JSONValue(plan.fulfilledID)
        item["rowid"] = .integer(row)
        item["rowId"] = .integer(row)
        item["fulfillsLinkConfirmed"] = false
        return item
    }
}

extension OfferJSON {
    /// A row of a report of gifts.
    static func give(_ give: OfferRow, hidden: Bool) -> JSONValue {
        func did(_ text: String) -> JSONValue { .string(hidden ? EndorserRow.hiddenDID : text) }
        let time = JSONValue.string(ClockText.iso(give.issuedAt))
        let links = links(of: give)
        let fulfilled = links.map { link -> JSONValue in
            ["@type": .string(link.type), "identifier": .string(link.handle)]
        }
        let claim: JSONValue =
            give.claimContent.map(JSONValue.encoded) ?? [
                "@context": "https://schema.org", "@type": "GiveAction", "description": .string(give.description),
                "agent": ["identifier": did(give.offeredByDID)], "recipient": ["identifier": did(give.recipientDID)],
                "object": [
                    "@type": "TypeAndQuantityNode", "amountOfThisGood": .integer(give.amount),
                    "unitCode": .string(give.unit),
                ],
                "fulfills": .array(fulfilled),
            ]
        return [
            "jwtId": .string(give.id), "handleId": .string(give.handleID), "issuedAt": time, "updatedAt": time,
            "issuerDid": did(give.offeredByDID), "agentDid": did(give.offeredByDID),
            "recipientDid": did(give.recipientDID),
            "fulfillsHandleId": JSONValue(links.first?.handle), "fulfillsType": JSONValue(links.first?.type),
            "fulfillsLinkConfirmed": false,
            "fulfillsPlanHandleId": give.isWithoutPlan ? .null : .string(give.plan.id),
            "giftNotTrade": true, "amountConfirmed": 0, "amount": .integer(give.amount), "unit": .string(give.unit),
            "description": .string(give.description), "emojiCount": "{}", "fullClaim": claim,
        ]
    }

    /// Plans and offers that a gift fulfills, in the order of its claim. The real server's own fields tell of the first one alone.
    static func links(of give: OfferRow) -> [(type: String, handle: String)] {
        var links: [(type: String, handle: String)] = []
        if !give.isWithoutPlan { links.append((type: "PlanAction", handle: give.plan.id)) }
        if let offer = give.offerHandleID { links.append((type: "Offer", handle: offer)) }
        return links
    }
}
