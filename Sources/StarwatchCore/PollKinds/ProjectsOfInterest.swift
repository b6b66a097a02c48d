extension PollKind {
    /// New and edited plans of anybody: those that fulfil a plan of the identity, or those that a ``PlanSearch`` finds.
    public static let projectsOfInterest = PollKind(
        PollTraits(
            name: "projects_of_interest",
            item: .project,
            endpoint: .plans,
            scope: .links(to: PollTraits.OwnReport(endpoint: .plans, roles: ["issuerDid", "agentDid"])),
            announced: "New and edited projects that fulfil the account's own, or near a place, or with a word",
            leftOut: "no project that the poll looks for"
        )
    )
}

/// A search for plans by the server, which is one request.
package enum PlanSearch: Sendable, Hashable {
    /// Plans in a box. Those in its corners are outside the circle.
    case box(GeoBox, around: GeoCircle)
    /// Plans with a word in their name or description.
    case word(String)

    package static func all(near circle: GeoCircle?, words: [String]) -> [PlanSearch] {
        (circle.map { circle in circle.boxes.map { .box($0, around: circle) } } ?? []) + words.map { .word($0) }
    }

    /// The parameters of the request.
    package var parameters: [(String, String)] {
        switch self {
        case .word(let word): [("claimContents", word)]
        case .box(let box, _):
            [
                ("locLat_greaterThanOrEqualTo", "\(box.south)"), ("locLat_lessThanOrEqualTo", "\(box.north)"),
                ("locLon_greaterThanOrEqualTo", "\(box.west)"), ("locLon_lessThanOrEqualTo", "\(box.east)"),
            ]
        }
    }

    /// Whether a plan that the server has found is one to announce. Without a place, the server's word counts.
    package func finds(_ place: GeoPoint?) -> Bool {
        guard case .box(_, let circle) = self, let place else { return true }
        return circle.contains(place)
    }
}

/// A place, in degrees.
public struct GeoPoint: Sendable, Hashable {
    /// Degrees north.
    public var latitude: Double
    /// Degrees east.
    public var longitude: Double

    public init(latitude: Double = 0, longitude: Double = 0) { (self.latitude, self.longitude) = (latitude, longitude) }
}

/// An area between parallels and meridians, in degrees. It never crosses the meridian of 180°.
package struct GeoBox: Sendable, Hashable {
    package let south, north, west, east: Double
}

/// A place and all within a distance of it.
public struct GeoCircle: Sendable, Hashable {
    public var center: GeoPoint
    /// The distance in kilometres.
    public var kilometers: Double

    public init(center: GeoPoint = GeoPoint(), kilometers: Double = 0) {
        (self.center, self.kilometers) = (center, kilometers)
    }

    /// The distance in degrees of a great circle of the Earth, as a sphere.
    private var reach: Double { kilometers / (6371.0088 * .pi / 180) }

    /// The boxes that hold the circle: two if it crosses the meridian of 180°, because the server finds nothing in a box that does.
    package var boxes: [GeoBox] {
        let (south, north) = (max(center.latitude - reach, -90), min(center.latitude + reach, 90))
        let farthest = max(north, -south)
        // Nowhere in the circle are the meridians closer to each other. Around a pole it has all of them.
        let width = farthest < 90 ? reach / Self.cosine(farthest) : 180
        let (west, east) = (center.longitude - width, center.longitude + width)
        let spans: [(Double, Double)] =
            if width >= 180 {
                [(-180, 180)]
            } else if west < -180 {
                [(west + 360, 180), (-180, east)]
            } else if east > 180 {
                [(west, 180), (-180, east - 360)]
            } else {
                [(west, east)]
            }
        return spans.map { GeoBox(south: south, north: north, west: $0.0, east: $0.1) }
    }

    package func contains(_ place: GeoPoint) -> Bool {
        let haversine = { (degrees: Double) in (1 - Self.cosine(degrees)) / 2 }
        let across = Self.cosine(center.latitude) * Self.cosine(place.latitude)
        return haversine(place.latitude - center.latitude) + across * haversine(place.longitude - center.longitude)
            <= haversine(reach)
    }

    /// The cosine of up to 360° by its series, because the Core has no functions of the platform.
    static func cosine(_ degrees: Double) -> Double {
        let square = (degrees * .pi / 180) * (degrees * .pi / 180)
        var (sum, term) = (1.0, 1.0)
        for number in stride(from: 2.0, through: 40, by: 2) {
            term *= -square / (number * (number - 1))
            sum += term
        }
        return sum
    }
}
