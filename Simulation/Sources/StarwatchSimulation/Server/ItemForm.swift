import StarwatchCore

/// Form in which the server sends a change.
enum ItemForm: Sendable, Hashable {
    /// Contents of a claim that anybody can write and the agent need not read.
    enum Hostile: CaseIterable {
        case deep, wide, odd, longHandle
    }

    /// Fields without which the agent cannot use a change.
    enum Invalid: CaseIterable {
        case handleMissing, handleNumber, identifier
    }

    case plain
    case hostile(Hostile)
    /// Invalid until a time in microseconds since the start of the simulation.
    case invalid(Invalid, until: Int64)
    /// No JSON, so that nothing of its page can be read, until such a time.
    case unreadable(until: Int64)

    /// The form in which the server sends the change at a time.
    func at(_ now: Int64) -> ItemForm {
        switch self {
        case .invalid(_, let until) where until <= now, .unreadable(let until) where until <= now: .plain
        default: self
        }
    }

    /// `true` if the agent cannot use the change at some time, and may set it aside.
    var canBeSetAside: Bool {
        switch self {
        case .plain, .hostile: false
        case .invalid, .unreadable: true
        }
    }

    /// `true` for a change without a valid identifier, which no cursor passes.
    var isNameless: Bool {
        if case .invalid(.identifier, _) = self { true } else { false }
    }

    var isUnreadable: Bool {
        if case .unreadable = self { true } else { false }
    }
}

extension ItemForm.Hostile {
    private static let deepClaim =
        String(repeating: #"{"a":["#, count: 3000) + "0" + String(repeating: "]}", count: 3000)
    private static let wideClaim = "[" + String(repeating: "{},", count: 10_999) + "{}]"
    private static let oddClaim = #"{"a":1e99999,"a":"\ud800","\u0000":-0,"":[null,true]}"#
    private static let handle = String(repeating: "h", count: 3000)

    /// JSON of the claim.
    var claim: String {
        switch self {
        case .deep: Self.deepClaim
        case .wide: Self.wideClaim
        case .odd, .longHandle: Self.oddClaim
        }
    }

    /// Handle of an offer, which its author chooses.
    func handle(_ plan: String) -> String { self == .longHandle ? Self.handle : plan }
}

/// JSON of an item of a page.
struct ItemText {
    let dialect: Dialect
    let now: Int64

    func change(_ row: FeedRow) -> String {
        let (item, claim) = fields(row, name: #""name":"N""#)
        let key = dialect == .canonical ? "planSummary" : "plan"
        let claimKey = dialect == .canonical ? "previousClaim" : "wrappedClaimBefore"
        let beside = claim.map { ",\"\(claimKey)\":\($0)" } ?? ""
        return "{\"\(key)\":\(item)\(beside)}"
    }

    func offer(_ row: FeedRow) -> String { fields(row, name: #""objectDescription":"O""#, isOffer: true).item }

    /// Returns the item, and its hostile claim if that stands beside it.
    private func fields(_ row: FeedRow, name: String, isOffer: Bool = false) -> (item: String, claim: String?) {
        let id = "\"jwtId\":\"\(row.id)\""
        switch row.form.at(now) {
        case .plain: return ("{\(id),\"handleId\":\"\(row.plan)\",\(name)}", nil)
        case .hostile(let hostile):
            let handle = isOffer ? hostile.handle(row.plan) : row.plan
            return ("{\(id),\"handleId\":\"\(handle)\",\"claim\":\(hostile.claim),\(name)}", hostile.claim)
        case .invalid(.handleMissing, _): return ("{\(id),\(name)}", nil)
        case .invalid(.handleNumber, _): return ("{\(id),\"handleId\":5,\(name)}", nil)
        case .invalid(.identifier, _):
            return ("{\"jwtId\":\"nonsense\",\"handleId\":\"\(row.plan)\",\(name)}", nil)
        case .unreadable: return ("{\(id),\"handleId\":\"\(row.plan),\(name)}", nil)
        }
    }
}
