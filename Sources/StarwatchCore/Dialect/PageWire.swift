import FoundationEssentials

/// The JSON of a page in either dialect. Unknown keys are ignored, because the server adds columns without notice.
struct PageWire: Decodable {
    struct Pagination: Decodable {
        enum CodingKeys: String, CodingKey { case hasMore, nextAfterId }

        var hasMore: Bool?
        var nextAfterId: String?
        var issues: [ValidationIssue] = []

        init(from decoder: any Decoder) throws {
            issues = FieldReader<CodingKeys>.issues(of: decoder) { fields in
                hasMore = fields.read(.hasMore, required: true)
                nextAfterId = fields.read(.nextAfterId, typed: true)
                guard fields.strict else { return }
                if !fields.container.contains(.nextAfterId) { fields.record(.nextAfterId, .missing) }
                if let text = nextAfterId, !StrictFormat.isCanonicalID(text) {
                    fields.record(.nextAfterId, .invalid)
                }
            }
        }
    }

    enum CodingKeys: String, CodingKey { case data, hitLimit, pagination }

    var data: [ItemWire]?
    var hitLimit: Bool?
    var pagination: Pagination?
    var issues: [ValidationIssue] = []

    init(from decoder: any Decoder) throws {
        issues = FieldReader<CodingKeys>.issues(of: decoder) { fields in
            let list: PageItems<ItemWire>? = fields.read(.data, required: true)
            if list?.isTooLong ?? false { fields.record(.data, .invalid) }
            data = list?.items
            hitLimit = fields.read(.hitLimit, typed: true)
            pagination = fields.read(.pagination, typed: true)
            if let pagination { fields.adopt(pagination.issues) }
        }
    }
}

/// The items of a page. Those of a hostile page are not decoded, which would cost a hundred times as much as skipping them.
struct PageItems<Item: Decodable>: Decodable {
    /// Ten times the largest page of a real server.
    private static var limit: Int { 1000 }

    /// Empty if there are too many.
    let items: [Item]
    let isTooLong: Bool

    init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        var items: [Item] = []
        isTooLong = list.count ?? 0 > Self.limit
        while !isTooLong, !list.isAtEnd { items.append(try list.decode(Item.self)) }
        self.items = items
    }
}

/// One item of a page, with its own issues, so that it can be rejected alone.
struct ItemWire: Decodable {
    enum CodingKeys: String, CodingKey {
        case plan, planSummary, previousClaim, wrappedClaimBefore, claimBefore
        // Offers are flat.
        case jwtId, handleId, objectDescription, planName, fulfillsPlanHandleId
    }

    var id: String?
    var handle: String?
    var name: String?
    /// Whether ``handle`` is an offer's.
    var isOffer = false
    /// `nil` for offers.
    var details: PlanDetails?
    /// The differences from the former claim that the server sent along; `nil` if it sent none, or one that says
    /// nothing.
    var claimedChanges: [String: FieldChange]?
    /// The field that holds the plan; `nil` for offers.
    var place: CodingKeys?
    var issues: [ValidationIssue] = []
    /// Faults that are no reason to reject the item, listed if it is rejected for another reason.
    var remarks: [ValidationIssue] = []

    init(from decoder: any Decoder) throws {
        issues = FieldReader<CodingKeys>.issues(of: decoder) { fields in
            let mustBeSummary = decoder.userInfo[FieldReading.summaryKey] as? Bool ?? false
            if fields.container.contains(.planSummary) {
                place = .planSummary
                let plan: CanonicalPlanWire? = fields.read(.planSummary, required: true)
                take(plan?.plan, &fields)
                if fields.strict {
                    fields.rejectNull(.previousClaim)
                    if let claim: PreviousClaimWire = fields.read(.previousClaim) { fields.adopt(claim.issues) }
                }
                compare(.previousClaim, fields)
            } else if mustBeSummary, fields.strict {
                fields.record(.planSummary, .missing)
            } else if fields.container.contains(.jwtId) {
                id = fields.read(.jwtId, required: true)
                let plan: String? = fields.read(.fulfillsPlanHandleId)
                isOffer = plan == nil
                handle = plan ?? fields.read(.handleId, required: true)
                name = fields.read(.planName) ?? fields.read(.objectDescription)
            } else {
                place = .plan
                let plan: EndorserPlanWire? = fields.read(.plan, required: true)
                take(plan?.plan, &fields)
                compare(.wrappedClaimBefore, fields)
                if claimedChanges == nil { compare(.claimBefore, fields) }
            }
        }
    }

    private mutating func take(_ plan: PlanWire?, _ fields: inout FieldReader<CodingKeys>) {
        guard let plan else { return }
        (id, handle, name, details) = (plan.id, plan.handle, plan.name, plan.details)
        remarks = plan.remarks
        fields.adopt(plan.issues)
    }

    private mutating func compare(_ key: CodingKeys, _ fields: FieldReader<CodingKeys>) {
        guard let claim = try? fields.container.decodeIfPresent(FormerClaimWire.self, forKey: key) else { return }
        claimedChanges = details?.changes(sinceClaim: claim.details)
    }
}
