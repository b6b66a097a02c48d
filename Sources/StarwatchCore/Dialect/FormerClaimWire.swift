import FoundationEssentials

/// A claim of a plan before the change: `previousClaim`, `wrappedClaimBefore`, or `claimBefore` of older servers.
///
/// It is a hint. A server can send an older claim than the one before, one of another shape, or none, so nothing in it
/// is an error.
struct FormerClaimWire: Decodable {
    private enum CodingKeys: String, CodingKey { case claimData, claim }

    let details: PlanDetails

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let content: Content?
        if container.contains(.claimData) {
            content = try? container.decode(Content.self, forKey: .claimData)
        } else if let text = try? container.decode(String.self, forKey: .claim) {
            // Release 4.2.10 of the server sends the claim as text.
            content = try? JSONDecoder().decode(Content.self, from: Data(text.utf8))
        } else {
            content = try? container.decode(Content.self, forKey: .claim)
        }
        details = content?.details ?? PlanDetails()
    }

    private struct Content: Decodable {
        private enum PlaceKey: String, CodingKey { case location, geo, latitude, longitude }

        let details: PlanDetails

        init(from decoder: any Decoder) throws {
            var details = PlanDetails(readFrom: try decoder.container(keyedBy: PlanKey.self))
            // A schema.org `PlanAction` has its coordinates in `location.geo`.
            let place = try? decoder.container(keyedBy: PlaceKey.self)
                .nestedContainer(keyedBy: PlaceKey.self, forKey: .location)
                .nestedContainer(keyedBy: PlaceKey.self, forKey: .geo)
            if let north = try? place?.decode(Double.self, forKey: .latitude),
                let east = try? place?.decode(Double.self, forKey: .longitude)
            {
                details.setLocation(north: north, east: east)
            }
            self.details = details
        }
    }
}

extension PlanDetails {
    /// Reads the details of a plan or claim, as far as they are readable. An invalid detail is no reason to reject the
    /// change.
    init(readFrom container: KeyedDecodingContainer<PlanKey>) {
        func value<Value: Decodable>(_ key: PlanKey) -> Value? {
            (try? container.decodeIfPresent(Value.self, forKey: key)) ?? nil
        }
        self.init()
        self[.name] = value(.name)
        self[.description] = value(.description)
        self[.startTime] = value(.startTime)
        self[.endTime] = value(.endTime)
        self[.url] = value(.url)
        self[.image] = value(.image)
        if let north: Double = value(.locLat), let east: Double = value(.locLon) {
            setLocation(north: north, east: east)
        }
    }

    fileprivate mutating func setLocation(north: Double, east: Double) { self[.location] = "\(north),\(east)" }
}
