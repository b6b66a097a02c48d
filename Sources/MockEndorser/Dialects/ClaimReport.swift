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

    /// The `plans` report, newest row first. Its pages go by the number of the row, in contrast to other reports.
    static func plans(_ request: IncomingRequest, _ state: MockState, hidden: Bool, pageSize: Int) -> Reply {
        let issuer = request.parameter("issuerDid")
        let agent = request.parameter("agentDid")
        let before = request.parameter("beforeId").flatMap { Int($0) } ?? .max
        var page: [JSONValue] = []
        for (index, plan) in state.catalogue.plans.enumerated().reversed() where page.count < pageSize {
            guard index + 1 < before, issuer == nil || plan.issuerDID == issuer, agent == nil || plan.agentDID == agent
            else { continue }
            page.append(row(index + 1, of: plan, state, hidden: hidden))
        }
        var body: JSONValue = ["data": .array(page)]
        if page.count == pageSize { body["hitLimit"] = true }
        return .json(200, body)
    }

    private static func row(_ row: Int, of plan: MockPlan, _ state: MockState, hidden: Bool) -> JSONValue {
        let id = state.log.latest[plan.id]?.id ?? plan.id.split(separator: "/").last.map(String.init) ?? ""
        let latest = ChangeRow(id: id, plan: plan, version: 1, changedAt: 0)
        var item = EndorserRow.plan(latest, hidden: hidden)
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
