/// The way in which the claim of an offer names its plan.
public enum MockOfferLink: String, Sendable, CaseIterable {
    /// By `fulfills`, as apps do since January 2025.
    case fulfills
    /// By `itemOffered.isPartOf`, as apps did before.
    case isPartOf = "is_part_of"
    /// By the second of several links in `fulfills`.
    case list
    /// By the last claim of the plan in `fulfills`, without its handle.
    case lastClaim = "last_claim"
    /// By `fulfills`, while `itemOffered.isPartOf` names another plan.
    case both

    /// The forms that offers have in turn.
    static let usual = [MockOfferLink.fulfills, .isPartOf]
}

/// The links from an offer to its plan.
struct OfferLink: Sendable {
    let form: MockOfferLink
    /// The handle of the plan.
    let plan: String
    /// The identifier of the plan's last claim.
    let lastClaim: String
    /// The handle of another plan.
    let other: String

    /// Adds the links to the claim of an offer.
    func add(to claim: inout JSONValue) {
        let link = Self.link(to: plan)
        switch form {
        case .fulfills, .both: claim["fulfills"] = link
        case .list: claim["fulfills"] = [["@type": "DonateAction"], link]
        case .lastClaim: claim["fulfills"] = ["@type": "PlanAction", "lastClaimId": .string(lastClaim)]
        case .isPartOf: break
        }
        if form == .isPartOf || form == .both {
            claim["itemOffered"]?["isPartOf"] = form == .both ? Self.link(to: other) : link
        }
    }

    private static func link(to plan: String) -> JSONValue { ["@type": "PlanAction", "identifier": .string(plan)] }
}
