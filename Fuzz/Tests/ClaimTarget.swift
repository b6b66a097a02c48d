import Foundation

@testable import StarwatchCore

/// A claim that anybody can write, on a page with the changes of others.
extension FuzzTarget {
    /// No claim of one user changes what another is told. The hostile claim's own change is told too.
    ///
    /// The first byte of the input says how deep its extra member is, and the second how long. The rest is the claim,
    /// or its texts if it is no JSON. The page shows it as the real server does: as `fullClaim` or
    /// `wrappedClaimBefore`, and in the columns that the server fills from it.
    static let claim = FuzzTarget(
        name: "claim",
        words: [
            "{", "}", "[", "]", ",", ":", "\"", "null", "true", "1e999", "\\ud83d", "\\u0000", "\\u202e", "[[[[[[[[",
            "\"data\":", "\"claim\":", "\"plan\":", "\"jwtId\":", "\"name\":", "\"identifier\":", "\"description\":",
            "\"location\":{\"geo\":", "\"hitLimit\":true", "\"fulfills\":{\"identifier\":",
            "\"fulfills\":[{\"@type\":\"Offer\",\"lastClaimId\":",
        ],
        tries: 8000
    ) { input in
        let claim = HostileClaim(input)
        for page in [HostilePage.plans, .offers, .gives] {
            for dialect in Dialect.allCases {
                guard let alone = page.alone(dialect) else { return "a page of others is rejected" }
                guard let mixed = try? page.decode(dialect, claim) else { return "a claim rejects the page" }
                if mixed.changes.filter({ $0.id != HostilePage.ids(dialect)[1] }) != alone.changes {
                    return "a claim changed what others are told"
                }
                if mixed.changes.count != alone.changes.count + 1 { return "a claim hides its own change" }
                if mixed.hasMore != alone.hasMore { return "a claim changed the end of the page" }
                let names = mixed.changes.compactMap(\.change.name)
                if names.contains(where: { $0.unicodeScalars.contains { $0.value < 32 } }) {
                    return "a name with a control character"
                }
            }
        }
        return nil
    }
}

/// What the author of a claim decides.
private struct HostileClaim {
    /// The JSON of the claim.
    let json: [UInt8]
    /// The columns that the server fills from it, as JSON.
    let name: [UInt8], description: [UInt8], identifier: [UInt8], plan: [UInt8]

    init(_ input: [UInt8]) {
        let sizes = (input.prefix(2) + [0, 0]).prefix(2).map(Int.init)
        let (depth, length) = (sizes[0], sizes[1])
        let rest = Data(input.dropFirst(2))
        // Foundation reads other encodings too, which no server sends.
        let isJSON = JSONText.isValid(Array(rest))
        let object = isJSON ? try? JSONSerialization.jsonObject(with: rest, options: .fragmentsAllowed) : nil
        func quoted(_ text: String) -> [UInt8] {
            (try? JSONEncoder().encode(text)).map(Array.init) ?? Array("\"\"".utf8)
        }
        let fields = object as? [String: Any] ?? [:]
        let text = String(decoding: rest, as: UTF8.self)
        func column(_ value: Any?) -> [UInt8] {
            // SQLite's columns hold texts.
            switch value {
            case nil, is NSNull: Array((object == nil ? String(decoding: quoted(text), as: UTF8.self) : "null").utf8)
            case let text as String: quoted(text)
            default: quoted("[object Object]")
            }
        }
        (name, description) = (column(fields["name"]), column(fields["description"]))
        let own = fields["identifier"] as? String ?? (object == nil ? text : "https://endorser.ch/entity/own")
        identifier = quoted(own.isEmpty ? "x" : own)
        let fulfilled = (fields["fulfills"] as? [String: Any])?["identifier"]
        plan = (fulfilled as? String).map(quoted) ?? Array("null".utf8)
        var json = Array(#"{"deep":"#.utf8)
        json += Array(repeating: UInt8(ascii: "["), count: depth) + Array(repeating: UInt8(ascii: "]"), count: depth)
        if depth == 0 { json.append(UInt8(ascii: "0")) }
        json += Array(#","long":["#.utf8) + Array("0,".utf8).repeated(length) + Array(#"0],"claim":"#.utf8)
        json += object == nil ? quoted(text) : Array(rest)
        self.json = json + Array("}".utf8)
    }
}

extension [UInt8] {
    fileprivate func repeated(_ count: Int) -> [UInt8] { [[UInt8]](repeating: self, count: count).flatMap(\.self) }
}

/// A page with changes of others, and one of the hostile author between them.
private enum HostilePage {
    case plans, offers, gives

    static func ids(_ dialect: Dialect) -> [JWTID] {
        let ids = [3, 2, 1].map { JWTID.floor(dialect.idKind, at: Timestamp(seconds: 1_767_225_600 + $0)) }
        return dialect.isDescending ? ids : ids.reversed()
    }

    /// The page without the hostile claim; `nil` if it is rejected.
    func alone(_ dialect: Dialect) -> Page? {
        switch self {
        case .plans: Self.plansAlone[dialect]
        case .offers: Self.offersAlone[dialect]
        case .gives: Self.givesAlone[dialect]
        }
    }

    private static let plansAlone = plans.pagesAlone()
    private static let offersAlone = offers.pagesAlone()
    private static let givesAlone = gives.pagesAlone()

    private func pagesAlone() -> [Dialect: Page] {
        var pages: [Dialect: Page] = [:]
        for dialect in Dialect.allCases { pages[dialect] = try? decode(dialect, nil) }
        return pages
    }

    func decode(_ dialect: Dialect, _ claim: HostileClaim?) throws -> Page {
        var items: [[UInt8]] = []
        for (index, id) in Self.ids(dialect).enumerated() where index != 1 || claim != nil {
            items.append(item(id.rawValue, dialect, index == 1 ? claim : nil))
        }
        let end =
            self == .plans && dialect == .canonical ? #","pagination":{"hasMore":false,"nextAfterId":null}}"# : "}"
        let page = Array(#"{"data":["#.utf8) + items.joined(separator: [UInt8(ascii: ",")])
        let decoder = PageDecoder(
            dialect: dialect,
            kind: self == .plans ? .starredProjects : self == .offers ? .offersToMe : .givesToMe,
            validation: .lenient,
            quarantine: false
        )
        return try decoder.decode(page + Array("],\"hitLimit\":false\(end)".utf8))
    }

    private func item(_ id: String, _ dialect: Dialect, _ claim: HostileClaim?) -> [UInt8] {
        let text = { (bytes: [UInt8]?) in bytes ?? Array(#""Garden""#.utf8) }
        let json = claim?.json ?? Array("{}".utf8)
        var item: [UInt8] = []
        func add(_ key: String, _ value: [UInt8]) {
            item.append(UInt8(ascii: item.isEmpty ? "{" : ","))
            item += Array("\"\(key)\":".utf8) + value
        }
        switch self {
        case .offers, .gives:
            add("jwtId", Array("\"\(id)\"".utf8))
            add("handleId", claim?.identifier ?? Array(#""https://endorser.ch/entity/a""#.utf8))
            add("fullClaim", json)
            add(self == .offers ? "objectDescription" : "description", text(claim?.description))
            add("fulfillsPlanHandleId", claim?.plan ?? Array("null".utf8))
        case .plans:
            // Somebody starred the plan, so its handle is one that can be starred.
            var plan = Array(#"{"jwtId":"\#(id)","handleId":"https://endorser.ch/entity/b","name":"#.utf8)
            plan += text(claim?.name) + Array(#","description":"#.utf8) + text(claim?.description) + Array("}".utf8)
            add(dialect == .canonical ? "planSummary" : "plan", plan)
            let before =
                Array(#"{"id":"x","claimData":"#.utf8) + json + Array(#","claim":"#.utf8) + json + Array("}".utf8)
            add(dialect == .canonical ? "previousClaim" : "wrappedClaimBefore", before)
        }
        return item + Array("}".utf8)
    }
}
