extension ClaimRow {
    /// The `claims` report, newest first: confirmations, offers and gifts.
    ///
    /// The real server leaves out rows whose issuer it was asked for and has to hide.
    static func report(
        _ request: IncomingRequest,
        from requester: Requester,
        _ state: MockState,
        pageSize: Int
    ) -> Reply {
        let (type, issuer) = (request.parameter("claimType"), request.parameter("issuer"))
        let (after, before) = (request.parameter("afterId") ?? "", request.parameter("beforeId"))
        let named = { (row: OfferRow, type: String) in
            ClaimRow(row, type, ["@type": .string(type), "description": .string(row.description)])
        }
        let claims = state.offers.map { named($0, "Offer") } + state.gives.map { named($0, "GiveAction") }
        let found = (state.confirmations + claims).filter { row in
            guard row.id > after, before.map({ row.id < $0 }) ?? true else { return false }
            return type ?? row.type == row.type && issuer ?? row.issuerDID == row.issuerDID
        }
        let page = found.sorted { $0.id > $1.id }.prefix(pageSize)
        let isHidden = requester.did == nil
        var body: JSONValue = ["data": .array(isHidden && issuer != nil ? [] : page.map { $0.json(hidden: isHidden) })]
        if page.count == pageSize { body["hitLimit"] = true }
        return .json(200, body)
    }

    private func json(hidden: Bool) -> JSONValue {
        [
            "id": .string(id), "issuedAt": .string(ClockText.iso(issuedAt)),
            "issuer": .string(hidden ? EndorserRow.hiddenDID : issuerDID), "subject": .null, "claimType": .string(type),
            "handleId": .string(handleID), "claimCanonHash": .string(id), "noncedHashAllChain": .null, "claim": claim,
            "claimContext": "https://schema.org", "lastClaimId": .null, "noncedHash": .string(id),
        ]
    }
}
