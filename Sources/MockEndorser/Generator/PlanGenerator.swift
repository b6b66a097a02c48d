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
