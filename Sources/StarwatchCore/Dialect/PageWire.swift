import FoundationEssentials

/// The JSON of a page in either dialect. Unknown keys are ignored, because the server adds columns without notice.
struct PageWire: Decodable {
    private struct Items: Decodable {
        var all: [ItemWire] = []
        var isTooLong = false

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            while !container.isAtEnd {
                guard all.count < PageWire.itemLimit else {
                    isTooLong = true
                    return
                }
                all.append(try container.decode(ItemWire.self))
            }
        }
    }

    struct Pagination: Decodable {
        enum CodingKeys: String, CodingKey { case hasMore, nextAfterId }

        var hasMore: Bool?
        var nextAfterId: String?
        var issues: [ValidationIssue] = []

        init(from decoder: any Decoder) throws {
            issues = FieldReader<CodingKeys>.issues(of: decoder) { fields in
                hasMore = fields.read(.hasMore, required: true)
                nextAfterId = fields.read(.nextAfterId, typed: true)
            }
        }
    }

    enum CodingKeys: String, CodingKey { case data, hitLimit, pagination }

    /// The largest number of decoded items: far above a real page, and low enough that a hostile server cannot fill the
    /// memory with a small page.
    static let itemLimit = 10_000

    var data: [ItemWire]?
    var hitLimit: Bool?
    var pagination: Pagination?
    var issues: [ValidationIssue] = []

    init(from decoder: any Decoder) throws {
        issues = FieldReader<CodingKeys>.issues(of: decoder) { fields in
            let items: Items? = fields.read(.data, required: true)
            if let items, items.isTooLong { fields.record(.data, .invalid) }
            data = items?.all
            hitLimit = fields.read(.hitLimit, typed: true)
            pagination = fields.read(.pagination, typed: true)
            if let pagination { fields.adopt(pagination.issues) }
        }
    }
}

/// One item of a page, with its own issues, so that it can be rejected alone.
struct ItemWire: Decodable {
    enum CodingKeys: String, CodingKey {
        case plan, planSummary, previousClaim
        // Offers are flat.
        case jwtId, handleId, objectDescription, planName, fulfillsPlanHandleId
    }

    var id: String?
    var handle: String?
    var name: String?
    /// `nil` for offers.
    var details: PlanDetails?
    var issues: [ValidationIssue] = []

    init(from decoder: any Decoder) throws {
        issues = FieldReader<CodingKeys>.issues(of: decoder) { fields in
            if fields.container.contains(.planSummary) {
                let plan: CanonicalPlanWire? = fields.read(.planSummary, required: true)
                take(plan?.plan, &fields)
                if fields.strict, let claim: PreviousClaimWire = fields.read(.previousClaim) {
                    fields.adopt(claim.issues)
                }
            } else if fields.container.contains(.jwtId) {
                id = fields.read(.jwtId, required: true)
                handle = fields.read(.fulfillsPlanHandleId) ?? fields.read(.handleId, required: true)
                name = fields.read(.planName) ?? fields.read(.objectDescription)
            } else {
                let plan: EndorserPlanWire? = fields.read(.plan, required: true)
                take(plan?.plan, &fields)
            }
        }
    }

    private mutating func take(_ plan: PlanWire?, _ fields: inout FieldReader<CodingKeys>) {
        guard let plan else { return }
        (id, handle, name, details) = (plan.id, plan.handle, plan.name, plan.details)
        fields.adopt(plan.issues)
    }
}
