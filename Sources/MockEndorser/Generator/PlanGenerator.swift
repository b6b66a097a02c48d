import Foundation

/// Generates realistic plans.
struct PlanGenerator: Sendable {
    private static let hex = Array("0123456789abcdef".utf8)
    private static let base58 = Array("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)
    /// 2025-06-01T00:00:00Z. A fixed time, so that plan identifiers do not depend on the clock.
    private static let epoch = 1_748_736_000

    let dialect: MockDialect
    private let ownerDID: String
    private var made = 0

    init(dialect: MockDialect, ownerDID: String) {
        self.dialect = dialect
        self.ownerDID = ownerDID
    }

    /// The next plan. Every second one belongs to the owner.
    mutating func plan(random: inout SeededRandom) -> MockPlan {
        let index = made
        made += 1
        let name = Self.name(index)
        let created = Date(timeIntervalSince1970: TimeInterval(Self.epoch + index * 3607))
        let id =
            switch dialect {
            case .endorser:
                "https://endorser.ch/entity/" + IdentifierMaker.single(at: created, dialect, random: &random)
            case .canonical: Self.slug(name)
            }
        var plan = MockPlan(
            id: id,
            name: name,
            description: random.pick(ProjectWords.notes),
            issuerDID: index.isMultiple(of: 2) ? ownerDID : did(random: &random),
            agentDID: index.isMultiple(of: 2) ? ownerDID : did(random: &random)
        )
        plan.startTime = ClockText.iso(Self.epoch + index * 86_400)
        plan.endTime = ClockText.iso(Self.epoch + (index + 180) * 86_400)
        if index % 5 != 4 {
            plan.latitude = Double(Int(random.next() % 12_000)) / 100 - 60
            plan.longitude = Double(Int(random.next() % 36_000)) / 100 - 180
        }
        if index % 3 == 0 { plan.url = "https://example.org/projects/\(index + 1)" }
        return plan
    }

    /// A random DID of the dialect's method.
    func did(random: inout SeededRandom) -> String {
        switch dialect {
        case .endorser: "did:ethr:0x" + random.text(40, of: Self.hex)
        case .canonical: "did:key:z6Mk" + random.text(44, of: Self.base58)
        }
    }

    private static func name(_ index: Int) -> String {
        let names = ProjectWords.names
        let places = ProjectWords.places
        guard index >= names.count else { return names[index] }
        let round = (index - names.count) / names.count
        let name = "\(names[index % names.count]), \(places[round % places.count])"
        return round < places.count ? name : "\(name) \(round / places.count + 1)"
    }

    private static func slug(_ name: String) -> String {
        var text = ""
        for scalar in name.lowercased().unicodeScalars {
            if scalar.isASCII, scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) {
                text.unicodeScalars.append(scalar)
            } else if scalar == "é" {
                text += "e"
            } else if !text.hasSuffix("_") {
                text += "_"
            }
        }
        return text
    }
}

enum ProjectWords {
    static let names = [
        "Community Garden Fence", "Tool Library Shelves", "Creek Cleanup Saturday", "Repair Café Winter Season",
        "Neighborhood Solar Co-op", "Bike Kitchen Workstands", "School Pollinator Patch", "Elder Visit Rota",
        "Open Map of Footpaths", "Seed Exchange Cabinet", "Rain Barrel Workshop", "Night Market Stalls",
        "Little Free Pantry", "Youth Choir Instruments", "Accessible Playground Ramp", "Orchard Grafting Day",
        "Village Hall Roof", "Storytelling Evenings", "River Otter Survey", "Community Kiln",
        "Soup Kitchen Stove", "Language Exchange Table", "Beach Dune Planting", "Makerspace Laser Cutter",
        "Oral History Archive", "Weekly Walking Bus", "Compost Collection Round", "Bee Hotel Series",
        "Mutual Aid Phone Line", "Restored Footbridge", "Skate Park Lighting", "Winter Coat Drive",
        "Meadow Mowing Team", "Radio Studio Booth", "First Aid Evenings", "Library Reading Nook",
        "Wheelchair Repair Bench", "Harvest Sharing Map", "Street Tree Watering", "Chess Tables in the Park",
    ]

    static let places = [
        "Elm Street", "North Quarter", "Mill Lane", "Harbor Side", "Old Town", "Station Road", "Hillcrest",
        "Riverside", "Maple Court", "West End", "Canal Basin", "Orchard Row", "Market Square", "Lakeside",
        "Fir Avenue", "South Bank", "Chapel Hill", "Garden Suburb", "Long Meadow", "Quarry Hill", "Bridge Street",
        "Pine Ridge", "East Village", "Cedar Close", "Mission Yard",
    ]

    static let notes = [
        "Two more volunteers have joined; posts go in on Saturday.",
        "The materials arrived and are stored in the shed.",
        "We moved the start to ten o'clock because of the forecast.",
        "The permit came through, so work can begin.",
        "Half of the budget is covered. Thank you!",
        "New photos are up, and the next session has a date.",
        "We are looking for somebody with a van on Friday.",
        "The first stage is finished; a short report follows.",
        "The meeting point changed to the north gate.",
        "A local workshop lends us tools for the month.",
        "Sign-up is open for the last three places.",
        "We are done with measuring and order wood this week.",
    ]

    static let offers = [
        "An afternoon of digging", "Two boxes of screws", "Lunch for the helpers", "A ride with the trailer",
        "An hour of bookkeeping", "Paint left over from our hall", "Lending a ladder for a week",
    ]
}
