/// The links from the claim of an offer or a gift to what it is for, such as a plan or an offer.
///
/// Anybody can offer and give and writes the claim, so nothing in it is an error. The reader of a page skips arrays, so the
/// claim is parsed again for its links.
enum ClaimLinks {
    private enum Key: UInt8, CaseIterable {
        case fulfills, type, identifier, lastClaimId
        case itemOffered, isPartOf
        case object

        var name: String { self == .type ? "@type" : String(describing: self) }
    }

    private static let keys = JSONKeys(Key.allCases.map(\.name), list: Key.fulfills.name)
    private static let keysOfConfirmation = JSONKeys(Key.allCases.map(\.name), list: Key.object.name)

    // MARK: - Gifts

    /// Whether the claim of a gift has a link that names an offer.
    static func haveOffer(_ claim: JSONValue) -> Bool {
        claim.readObject(keys: keys) { links(.fulfills, of: $0).contains(where: isToOffer) } ?? false
    }

    /// Whether the type of a link is that of an offer.
    static func isOffer(_ type: UnsafeBufferPointer<UInt8>) -> Bool { type.elementsEqual("Offer".utf8) }

    private static func isToOffer(_ link: JSONValue) -> Bool {
        guard link[Key.type.rawValue]?.withUTF8(isOffer) == true else { return false }
        return [Key.identifier, .lastClaimId].contains { link[$0.rawValue]?.withUTF8 { !$0.isEmpty } == true }
    }

    // MARK: - Confirmations

    /// The claims that the claim of a confirmation names, by their identifiers and handles.
    static func confirmed(by claim: JSONValue) -> [String] {
        claim.readObject(keys: keysOfConfirmation) { claim in
            links(.object, of: claim).flatMap { link in
                [Key.lastClaimId, .identifier].compactMap { link[$0.rawValue]?.line.flatMap(ItemWire.storable) }
            }
        } ?? []
    }

    // MARK: - Offers

    /// A plan that the claim of an offer names: by the handle of a plan that the poll asks for, or by one of the plan's claims.
    typealias NamedPlan = (handle: String?, claim: JWTID?)

    /// Returns the plan that the claim of an offer is for; `nil` if it names none that the poll asks for.
    ///
    /// As the server does: `fulfills` decides, and `itemOffered.isPartOf` only if that names no plan. Each must be a plan that
    /// the poll asks for, because the server sends no offer to another. A claim that is not known can be of one of them, so
    /// it keeps `isPartOf` from deciding.
    static func plan(of claim: JSONValue, _ context: PageContext) -> NamedPlan? {
        claim.readObject(keys: keys) { claim in
            let plans = links(.fulfills, of: claim).compactMap { plan($0, context) }
            if let found = plans.first(where: { $0.handle != nil }) ?? plans.first { return found }
            return claim[Key.itemOffered.rawValue]?[Key.isPartOf.rawValue].flatMap { plan($0, context) }
        } ?? nil
    }

    /// A claim that the link names wins over a handle. A bare identifier is no plan's handle.
    private static func plan(_ link: JSONValue, _ context: PageContext) -> NamedPlan? {
        let claim = link[Key.lastClaimId.rawValue]?.text.flatMap { JWTID($0) }
        if let plan = claim.flatMap(context.plan(ofFirstClaim:)) { return (plan, nil) }
        if let handle = link[Key.identifier.rawValue]?.line.flatMap(ItemWire.storable), JWTID(handle) == nil,
            context.asks(for: handle)
        {
            return (handle, nil)
        }
        guard let claim, isPlan(link[Key.type.rawValue]) else { return nil }
        return (nil, claim)
    }

    /// Whether a link without a type, or with this one, can be to a plan.
    private static func isPlan(_ type: JSONValue?) -> Bool {
        guard let type, !type.isNull else { return true }
        return type.withUTF8 { $0.elementsEqual("PlanAction".utf8) } ?? false
    }

    /// The largest number of links that are read. The server's own apps write three.
    private static let mostLinks = 100

    /// The links of a member: one, or an array of them.
    private static func links(_ key: Key, of claim: JSONValue) -> [JSONValue] {
        guard let links = claim[key.rawValue] else { return [] }
        return links.count == nil ? [links] : Array(links.elements.prefix(mostLinks))
    }
}
