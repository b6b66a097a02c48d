/// The names of members that the agent reads from pages of either dialect.
enum PageKey: UInt8, CaseIterable {
    case data, hitLimit, pagination, hasMore, nextAfterId
    // Items. Offers are flat.
    case plan, planSummary, previousClaim, wrappedClaimBefore, claimBefore
    case objectDescription, planName, fulfillsPlanHandleId
    case offeredByDid
    // Plans.
    case jwtId, handleId, name, description, issuerDid, agentDid, startTime, endTime, locLat, locLon, url, image
    case version
    // Claims.
    case claimType, claimData, metadata, createdAt, updatedAt, claim, location, geo, latitude, longitude

    var name: String { String(describing: self) }

    static let table = JSONKeys(allCases.map(\.name), list: PageKey.data.name)
}

extension JSONValue {
    /// The first member with the name; `nil` if there is none or this is not an object.
    subscript(_ key: PageKey) -> JSONValue? { self[key.rawValue] }

    /// A JSON path of names and indexes, without values.
    var path: String { path { PageKey(rawValue: $0)?.name ?? "?" } }
}
