/// A page of an identity's own claims, such as plans.
package struct OwnClaimsPage: Sendable, Hashable {
    /// A claim, as far as the agent needs it.
    package struct Claim: Sendable, Hashable {
        package let handle: String
        /// The name to show; `nil` if the claim has none.
        package let name: String?
        /// The identifier of this version, where the report has all versions.
        package let id: String?

        package init(handle: String, name: String? = nil, id: String? = nil) {
            (self.handle, self.name, self.id) = (handle, name, id)
        }
    }

    /// The claims, the newest first, without those whose handle is unusable.
    package let claims: [Claim]
    /// The `beforeId` of the next page; `nil` if this is the last one.
    package let next: String?

    package init(claims: [Claim], next: String?) { (self.claims, self.next) = (claims, next) }

    package static let empty = OwnClaimsPage(claims: [], next: nil)

    /// Reads an answer; `nil` if the bytes are not JSON in UTF-8.
    package static func read(_ bytes: [UInt8]) -> Result<OwnClaimsPage, PageRejection>? {
        JSONValue.read(bytes, keys: PageKey.table) { page -> Result<OwnClaimsPage, PageRejection> in
            guard let data = page[.data], let count = data.count, count <= PageWire.longest else {
                return .failure(.notAPage)
            }
            let claims = data.elements.compactMap { item in
                item[.handleId]?.line.flatMap(ItemWire.storable).map { handle in
                    let claim = item[.claim]
                    let name = item[.name] ?? item[.objectDescription] ?? claim?[.name] ?? claim?[.description]
                    return Claim(handle: handle, name: name?.line, id: item[.id]?.line.flatMap(ItemWire.storable))
                }
            }
            guard page[.hitLimit]?.bool == true else { return .success(OwnClaimsPage(claims: claims, next: nil)) }
            // The cursors have one name. In the report of plans they are the numbers of the rows, which an edit does not move.
            let last = data.elements.reduce(nil as JSONValue?) { $1 }
            guard let row = last?[.rowId]?.scalar ?? last?[.jwtId]?.text ?? last?[.id]?.text else {
                return .failure(PageRejection(violation: .hitLimit, issues: []))
            }
            return .success(OwnClaimsPage(claims: claims, next: row))
        }
    }
}

/// The claims that an account made, such as plans, the newest of each ``PollTraits/OwnReport/roles``, up to a limit.
package struct OwnClaims: Sendable {
    /// The largest number of pages of each role, for a server that sends the same claims again and again.
    package static let mostPages = 101

    package private(set) var handles: [String] = []
    /// The names by handle. Claims without a name are missing.
    package private(set) var names: [String: String] = [:]
    /// The handles by themselves, and by the identifiers of the claims.
    private(set) var known: [String: String] = [:]
    /// Whether the account has more claims than these.
    package private(set) var areCut = false
    private let limit: Int

    package init(limit: Int) { self.limit = limit }

    /// Says that an account has more plans than were asked for.
    package static func sentence(asked: Int) -> String {
        "The poll asks for \(asked) projects of the account, and limits.max_own_plans leaves out the others."
    }

    /// Adds a page of claims, without those too long for a request.
    ///
    /// - Parameter number: The number of the page among those of its role, from 1.
    /// - Returns: The `beforeId` of the next page to ask for; `nil` if none is needed.
    package mutating func add(_ page: OwnClaimsPage, number: Int) -> String? {
        for claim in page.claims {
            if known[claim.handle] == nil {
                guard PlanChunk.fitsQuery(claim.handle) else { continue }
                guard handles.count < limit else {
                    areCut = true
                    return nil
                }
                handles.append(claim.handle)
                (known[claim.handle], names[claim.handle]) = (claim.handle, claim.name)
            }
            if let id = claim.id { known[id] = claim.handle }
        }
        guard let next = page.next else { return nil }
        if number >= Self.mostPages { areCut = true }
        return areCut ? nil : next
    }
}
