extension CanonicalDialect {
    /// The two offer reports (R-EP-26, R-EP-27), in ascending order.
    ///
    /// Without verified tokens, every requester owns all plans, so that the reports work without keys.
    static func offers(_ call: APICall, from requester: Requester, _ state: MockState) -> Reply {
        let (request, endpoint) = (call.request, call.endpoint)
        let recipient = request.parameter("recipientDid")
        let matching = state.offers.filter { offer in
            switch endpoint {
            case .offersToMe: recipient == nil || offer.recipientDID == recipient
            default:
                state.options.auth == .none || offer.plan.issuerDID == requester.did
                    || offer.plan.agentDID == requester.did
            }
        }
        let after = request.parameter("afterId") ?? ""
        let before = request.parameter("beforeId")
        let window = matching.filter { offer in offer.id > after && before.map { offer.id < $0 } ?? true }
        let page = window.prefix(pageLimit)
        var reply = Reply.json(
            200,
            [
                "data": .array(page.map { OfferJSON.value($0, endpoint, hidden: false) }),
                "hitLimit": .bool(window.count > page.count),
            ]
        )
        reply.addETag(for: request)
        return reply
    }
}

/// Encodes the items of the two offer reports.
enum OfferJSON {
    static func value(_ offer: OfferRow, _ endpoint: MockEndpoint, hidden: Bool) -> JSONValue {
        func did(_ text: String) -> JSONValue { .string(hidden ? EndorserRow.hiddenDID : text) }
        let time = JSONValue.string(ClockText.iso(offer.issuedAt))
        let claim: JSONValue =
            offer.claimContent.map(JSONValue.encoded) ?? [
                "@context": "https://schema.org", "@type": "Offer",
                "description": .string(offer.description),
                "includesObject": [
                    "@type": "TypeAndQuantityNode", "amountOfThisGood": .integer(offer.amount),
                    "unitCode": .string(offer.unit),
                ],
            ]
        var item: JSONValue = [
            "jwtId": .string(offer.id), "handleId": .string(offer.handleID), "issuedAt": time, "updatedAt": time,
            "offeredByDid": did(offer.offeredByDID), "amount": .integer(offer.amount), "unit": .string(offer.unit),
            "objectDescription": .string(offer.description), "validThrough": .null, "fullClaim": claim,
            "fulfillsPlanHandleId": offer.isWithoutPlan ? .null : .string(offer.plan.id),
        ]
        switch endpoint {
        case .offersToMe:
            item["issuerDid"] = did(offer.offeredByDID)
            item["recipientDid"] = did(offer.recipientDID)
            item["amountGiven"] = 0
            item["amountGivenConfirmed"] = 0
            item["nonAmountGivenConfirmed"] = 0
        default:
            item["planName"] = .string(offer.plan.name)
            item["planImage"] = .null
        }
        return item
    }
}
