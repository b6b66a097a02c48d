/// The rules for reading a page, beside those of its dialect.
extension PageDecoder {
    fileprivate var isStrict: Bool { validation == .strict }

    /// Whether the items must be canonical changes of plans.
    fileprivate var mustBeSummary: Bool { isStrict && dialect == .canonical && kind.isOfPlans }

    /// The field of an offer or a gift that is its name if the item has no plan's name; `nil` for none. Where the requests name
    /// plans, an item is named by its plan alone.
    fileprivate var title: PageKey? {
        switch kind.traits.item {
        case .offer where !kind.namesPlans: .objectDescription
        case .give where !kind.namesPlans: .description
        case .plan, .offer, .give, .confirmation, .project, .listed: nil
        }
    }
}

/// The JSON of a page in either dialect. Unknown keys are ignored, because the server adds columns without notice.
struct PageWire {
    struct Pagination {
        var hasMore: Bool?
        var nextAfterId: String?
        var issues: [ValidationIssue] = []

        init(_ value: JSONValue, strict: Bool) {
            issues = FieldReader.issues(of: value, strict: strict) { fields in
                hasMore = fields.read(.hasMore, required: true) { $0.bool }
                nextAfterId = fields.read(.nextAfterId, typed: true) { $0.text }
                guard fields.strict else { return }
                if fields.object[.nextAfterId] == nil { fields.record(.nextAfterId, .missing) }
                if let text = nextAfterId, JWTID(text)?.kind != .timestamped { fields.record(.nextAfterId, .invalid) }
            }
        }
    }

    /// The largest number of items. The items of a longer page are not decoded.
    static let longest = JSONParser.longest

    var data: [ItemWire]?
    var hitLimit: Bool?
    var pagination: Pagination?
    var issues: [ValidationIssue] = []

    init(_ value: JSONValue, _ rules: PageDecoder) {
        issues = FieldReader.issues(of: value, strict: rules.isStrict) { fields in
            if let list = fields.read(.data, required: true, { $0.count == nil ? nil : $0 }), let count = list.count {
                if count > Self.longest { fields.record(.data, .invalid) }
                data = count > Self.longest ? [] : list.elements.map { ItemWire($0, rules) }
            }
            hitLimit = fields.read(.hitLimit, typed: true) { $0.bool }
            pagination = fields.value(.pagination).map { Pagination($0, strict: rules.isStrict) }
            if let pagination { fields.adopt(pagination.issues) }
        }
    }
}

/// One item of a page, with its own issues, so that it can be rejected alone.
struct ItemWire {
    /// For offers and gifts, the fields that they share with a plan.
    var plan = PlanWire()
    /// Whether the handle is that of an offer or a gift.
    var isOffer = false
    /// Whether this is a gift that honours an offer.
    var fulfillsOffer = false
    /// The own handle of an offer or a gift; `nil` if it cannot be read.
    var ownHandle: String?
    /// The claim by which alone an offer names its plan; `nil` if it names the plan's handle, or none.
    var planClaim: JWTID?
    /// The claims that this one is about, by identifier or handle, if only those of the account's own count.
    var links: [String] = []
    /// The number of the item's row, where pages go by it; `nil` if it cannot be read.
    var row: Int?
    /// The place of a plan of anybody; `nil` if it has none.
    var location: GeoPoint?
    /// The differences from the former claim that the server sent along; `nil` if it sent none, or one that says
    /// nothing.
    var claimedChanges: [String: FieldChange]?
    /// Whether the account made the claim itself.
    var isOwn = false
    /// The claim before this one, if the canonical dialect names it and it came after the walk's cursor.
    var previous: JWTID?
    /// The field that holds the plan; `nil` for offers and gifts.
    var place: PageKey?
    var issues: [ValidationIssue] = []

    init(_ value: JSONValue, _ rules: PageDecoder) {
        issues = FieldReader.issues(of: value, strict: rules.isStrict) { fields in
            if rules.kind.walksRows {
                plan = PlanWire(endorser: value, strict: rules.isStrict)
                fields.adopt(plan.issues)
                plan.handle = plan.handle.flatMap(handleOfAnybody)
                // Only plans of the account are compared with what was last seen of them.
                plan.details = nil
                row = fields.read(.rowId) { $0.number.flatMap(Int.init(exactly:)) }
                links = fields.read(.fulfillsPlanHandleId) { $0.line }.map { [$0] } ?? []
                if let north = value[.locLat]?.number, let east = value[.locLon]?.number {
                    location = GeoPoint(latitude: north, longitude: east)
                }
            } else if value[.planSummary] != nil {
                readPlan(.planSummary, &fields) { PlanWire(canonical: $0, strict: rules.isStrict) }
                if rules.isStrict {
                    fields.rejectNull(.previousClaim)
                    if let claim = fields.value(.previousClaim) {
                        fields.adopt(PlanWire.issues(ofPreviousClaim: claim))
                    }
                }
                let claim = value[.previousClaim]
                compare(claim, with: value[.planSummary])
                if rules.context.cursor != nil { previous = rules.context.previous(claim) }
            } else if rules.mustBeSummary {
                fields.record(.planSummary, .missing)
            } else if rules.kind.traits.item == .confirmation {
                plan.id = fields.read(.id, required: true) { $0.text }
                links = value[.claim].map(ClaimLinks.confirmed) ?? []
                isOffer = true
                plan.handle = links.first ?? offerHandle(&fields)
            } else if value[.jwtId] != nil {
                plan.id = fields.read(.jwtId, required: true) { $0.text }
                var fulfilled = fields.read(.fulfillsPlanHandleId) { $0.line }.flatMap(Self.storable)
                if fulfilled == nil, rules.kind.traits.namesPlanInClaim, let claim = value[.fullClaim] {
                    let plan = ClaimLinks.plan(of: claim, rules.context)
                    (fulfilled, planClaim) = (plan?.handle, plan?.claim)
                }
                isOffer = fulfilled == nil
                ownHandle = value[.handleId]?.line.flatMap(Self.storable)
                plan.handle = fulfilled ?? offerHandle(&fields)
                plan.name = fields.read(.planName) { $0.line }
                if plan.name == nil, let title = rules.title { plan.name = fields.read(title) { $0.line } }
                if rules.kind.traits.item == .give { fulfillsOffer = Self.isForOffer(value, &fields) }
                if rules.kind.isOfLinks { links = fields.read(.fulfillsHandleId) { $0.line }.map { [$0] } ?? [] }
            } else {
                readPlan(.plan, &fields) { PlanWire(endorser: $0, strict: rules.isStrict) }
                compare(value[.wrappedClaimBefore], with: value[.plan])
                if claimedChanges == nil { compare(value[.claimBefore], with: value[.plan]) }
            }
        }
        if rules.context.author != nil { isOwn = rules.context.isOwn(place.flatMap { value[$0] } ?? value) }
    }

    /// The longest handle of a plan, in bytes. A star cannot be longer either (``PlanIDRule``).
    static let longestHandle = 2048

    static func storable(_ handle: String) -> String? {
        handle.isEmpty || handle.utf8.count > longestHandle ? nil : handle
    }

    /// Whether a gift honours an offer, by what the server or the claim says.
    ///
    /// The server's own fields tell of one link of the claim. Of a gift to a plan it is mostly that to the plan.
    private static func isForOffer(_ gift: JSONValue, _ fields: inout FieldReader) -> Bool {
        let isOffer = fields.read(.fulfillsType) { $0.withUTF8(ClaimLinks.isOffer) } ?? false
        let isNamed = fields.read(.fulfillsHandleId) { $0.withUTF8 { !$0.isEmpty } } ?? false
        return isOffer && isNamed || gift[.fullClaim].map(ClaimLinks.haveOffer) ?? false
    }

    /// The handle of an offer or a gift without a plan.
    private func offerHandle(_ fields: inout FieldReader) -> String? {
        fields.read(.handleId, required: true) { $0.line }.flatMap(handleOfAnybody)
    }

    /// The handle of a claim of anybody, who decides about it, and which nothing needs. So the item's identifier replaces one that
    /// is too long.
    private func handleOfAnybody(_ handle: String) -> String? { Self.storable(handle) ?? plan.id }

    private mutating func readPlan(_ key: PageKey, _ fields: inout FieldReader, _ read: (JSONValue) -> PlanWire) {
        place = key
        guard let value = fields.value(key, required: true) else { return }
        plan = read(value)
        fields.adopt(plan.issues)
    }

    private mutating func compare(_ claim: JSONValue?, with object: JSONValue?) {
        guard let claim, claim.isObject else { return }
        var changes = plan.details?.changes(sinceClaim: PlanDetails(formerClaim: claim)) ?? [:]
        for field in ClaimField.allCases {
            guard let before = claim[.claimData]?[field.key]?.scalar.map(PlanDetails.shortened) else { continue }
            let after = object?[field.key]?.scalar.map(PlanDetails.shortened)
            if after != before { changes[field.rawValue] = FieldChange(before: before, after: after) }
        }
        claimedChanges = changes.isEmpty ? nil : changes
    }
}

/// The names of members that the agent reads from pages of either dialect.
enum PageKey: UInt8, CaseIterable {
    case data, hitLimit, pagination, hasMore, nextAfterId
    // Rows of the report of claims, which has all versions of each.
    case id, issuer
    // Items. Offers and gifts are flat.
    case plan, planSummary, previousClaim, wrappedClaimBefore, claimBefore
    case objectDescription, planName, fulfillsPlanHandleId, fulfillsHandleId, fulfillsType
    case offeredByDid
    case fullClaim
    // Plans.
    case jwtId, handleId, rowId, name, description, issuerDid, agentDid, startTime, endTime, locLat, locLon, url, image
    case version
    // Claims.
    case status, progress
    case claimType, claimData, metadata, createdAt, updatedAt, claim, location, geo, latitude, longitude

    var name: String { String(describing: self) }

    static let table = JSONKeys(allCases.map(\.name), list: PageKey.data.name)
}

extension ClaimField {
    fileprivate var key: PageKey {
        switch self {
        case .status: .status
        case .progress: .progress
        }
    }
}

extension JSONValue {
    /// The first member with the name; `nil` if there is none or this is not an object.
    subscript(_ key: PageKey) -> JSONValue? { self[key.rawValue] }

    /// A JSON path of names and indexes, without values.
    var path: String { path { PageKey(rawValue: $0)?.name ?? "?" } }
}

/// The facts about an account and its poll that decide what is read of a page beside its changes.
///
/// A class, because a cycle copies its decoder five times, and a copy of each fact took 250 instructions (callgrind,
/// `Benchmarks/instructions`).
public final class PageContext: Sendable {
    /// The account's DID; `nil` if no item is compared with it.
    let author: String?
    /// The cursor from which the cycle began; `nil` if no former claim is read.
    let cursor: JWTID?
    /// The plans that the poll asks for; `nil` if the plans of claims are not compared with them.
    let plans: Set<String>?
    /// Those plans by the identifier of their first claim; empty for one that several have. Anybody writes any number of links
    /// into a claim, so each must take little.
    private let firstClaims: [Substring: String]
    /// The names of plans that the pages lack, by handle.
    let names: [String: String]

    /// - Parameters:
    ///   - author: The account whose own claims are marked by ``FetchedChange/isOwn``; `nil` marks none.
    ///   - cursor: The cursor from which the cycle began. Former claims after it are in ``FetchedChange/previous``; `nil`
    ///     reads none.
    ///   - plans: The plans that the poll asks for. The claim of an offer counts only if it is for one of these; `nil` for any.
    ///   - names: The names of plans by handle, for pages that do not have them.
    public init(
        author: DID? = nil,
        cursor: JWTID? = nil,
        plans: Set<String>? = nil,
        names: [String: String] = [:]
    ) {
        self.author = author?.rawValue
        (self.cursor, self.plans, self.names) = (cursor, plans, names)
        firstClaims = Dictionary(
            (plans ?? []).compactMap { plan in plan.lastIndex(of: "/").map { (plan[plan.index(after: $0)...], plan) } },
            uniquingKeysWith: { _, _ in "" }
        )
    }

    /// Whether the account made an item's claim. Servers compare DIDs byte for byte. A hidden issuer is nobody's.
    ///
    /// An item of a plan says who made its last claim. Two reports of offers lack the issuer, but name the person who
    /// offers, who is the issuer unless the claim says otherwise.
    func isOwn(_ item: JSONValue) -> Bool {
        guard let author,
            let issuer = Self.present(item[.issuerDid]) ?? Self.present(item[.offeredByDid])
                ?? Self.present(item[.issuer])
        else { return false }
        return issuer.withUTF8 { $0.elementsEqual(author.utf8) } ?? false
    }

    /// Whether the poll can have asked for a plan. Anybody writes a claim, also for one that nobody has starred.
    func asks(for plan: String) -> Bool { plans?.contains(plan) ?? true }

    /// The plan asked for whose handle ends with the identifier of its first claim; `nil` if no plan does, or several do.
    func plan(ofFirstClaim id: JWTID) -> String? {
        firstClaims[Substring(id.rawValue)].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The identifier of the claim before a change, if it came after the cursor.
    func previous(_ claim: JSONValue?) -> JWTID? {
        guard let cursor, let id = claim?[.jwtId],
            id.withUTF8({ cursor.rawValue.utf8.lexicographicallyPrecedes($0) }) == true
        else { return nil }
        return id.text.flatMap { JWTID($0) }
    }

    /// Whether an offer or a gift is an edition of one from before the cycle. Its handle ends with the identifier of its first
    /// edition; a handle without one does not tell.
    ///
    /// The server keeps only the last edition. If the first one came after the cursor, no cycle has seen any.
    func isEdition(_ id: JWTID, of handle: String) -> Bool {
        guard let cursor, let last = handle.split(separator: "/").last, let first = JWTID(String(last)) else {
            return false
        }
        return first.kind == id.kind && first != id && cursor.precedes(first) == false
    }

    private static func present(_ value: JSONValue?) -> JSONValue? { value.flatMap { $0.isNull ? nil : $0 } }
}
