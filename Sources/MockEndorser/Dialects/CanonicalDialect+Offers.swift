extension CanonicalDialect {
    /// The reports of offers and gifts, in ascending order.
    static func offers(_ call: APICall, from requester: Requester, _ state: inout MockState) -> Reply {
        let (request, endpoint) = (call.request, call.endpoint)
        guard let matching = ClaimReport.rows(call, from: requester, state) else {
            return error(
                400,
                "invalid_request",
                "Invalid planIds format: expected array of strings",
                details: [("field", "planIds"), ("expected", "string[]")],
                in: &state
            )
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

/// Encodes the items of the reports of offers and gifts.
enum OfferJSON {
    static func value(_ offer: OfferRow, _ endpoint: MockEndpoint, hidden: Bool) -> JSONValue {
        if endpoint == .givesToMe || endpoint == .givesToPlans { return give(offer, hidden: hidden) }
        func did(_ text: String) -> JSONValue { .string(hidden ? EndorserRow.hiddenDID : text) }
        let time = JSONValue.string(ClockText.iso(offer.issuedAt))
        let claim = offer.claimContent.map(JSONValue.encoded) ?? Self.claim(of: offer)
        var item: JSONValue = [
            "jwtId": .string(offer.id), "handleId": .string(offer.handleID), "issuedAt": time, "updatedAt": time,
            "offeredByDid": did(offer.offeredByDID), "amount": .integer(offer.amount), "unit": .string(offer.unit),
            "objectDescription": .string(offer.description), "validThrough": .null, "fullClaim": claim,
        ]
        // The real server says only in the claim to which of the plans an offer is.
        if endpoint == .offersToPlans { return item }
        item["fulfillsPlanHandleId"] = offer.isWithoutPlan ? .null : .string(offer.plan.id)
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

    private static func claim(of offer: OfferRow) -> JSONValue {
        var claim: JSONValue = [
            "@context": "https://schema.org", "@type": "Offer",
            "itemOffered": ["description": .string(offer.description)],
            "includesObject": [
                "@type": "TypeAndQuantityNode", "amountOfThisGood": .integer(offer.amount),
                "unitCode": .string(offer.unit),
            ],
        ]
        if !offer.isWithoutPlan { offer.link?.add(to: &claim) }
        return claim
    }
}
