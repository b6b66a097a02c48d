extension PlanDetails {
    /// Reads a claim of a plan before the change: `previousClaim`, `wrappedClaimBefore`, or `claimBefore` of older
    /// servers.
    ///
    /// It is a hint. A server can send an older claim than the one before, one of another shape, or none, so nothing in
    /// it is an error.
    init(formerClaim claim: JSONValue) {
        if let content = claim[.claimData] {
            self.init(claimContent: content)
        } else if let content = claim[.claim] {
            // Release 4.2.10 of the server sends the claim as text.
            let text = content.readText(keys: PageKey.table) { PlanDetails(claimContent: $0) }
            self = text ?? PlanDetails(claimContent: content)
        } else {
            self.init()
        }
    }

    private init(claimContent content: JSONValue) {
        self.init(readFrom: content, name: content[.name]?.line)
        // A schema.org `PlanAction` has its coordinates in `location.geo`.
        let place = content[.location]?[.geo]
        if let north = place?[.latitude]?.number, let east = place?[.longitude]?.number {
            setLocation(north: north, east: east)
        }
    }

    /// Reads the details of a plan or claim, as far as they are readable. An invalid detail is no reason to reject the
    /// change.
    init(readFrom object: JSONValue, name: String?) {
        self.init()
        self[.name] = name
        self[.description] = object[.description]?.cleanText(keepsLines: true)
        self[.startTime] = object[.startTime]?.line
        self[.endTime] = object[.endTime]?.line
        self[.url] = object[.url]?.line
        self[.image] = object[.image]?.line
        if let north = object[.locLat]?.number, let east = object[.locLon]?.number {
            setLocation(north: north, east: east)
        }
    }

    private mutating func setLocation(north: Double, east: Double) {
        self[.location] = north.description + "," + east.description
    }
}
