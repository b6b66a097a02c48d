/// An item that was rejected alone (`quarantine_invalid`). It holds nothing of the item but its identifier.
public struct RefusedItem: Sendable, Hashable {
    /// The identifiers that a cursor passes with an item.
    public struct Span: Sendable, Hashable {
        package let lower: JWTID
        package let upper: JWTID

        package init(_ lower: JWTID, _ upper: JWTID) { (self.lower, self.upper) = (lower, upper) }
    }

    /// The largest number of listed issues.
    public static let listedIssues = 20

    public let violation: ContractViolation
    /// The item's identifier; `nil` if it has no valid one.
    public let id: JWTID?
    /// The first ``listedIssues`` issues, of which there is at least one.
    public let issues: [ValidationIssue]
    /// The same number for the same item with the same issues, wherever it stands. Nothing can be read from it.
    public let fingerprint: Int64
    /// The place of the item among the others; `nil` if its identifier is invalid, so that no cursor passes it.
    public internal(set) var span: Span?

    /// An item that makes its page unreadable. Only the time in its identifier is known.
    init(unreadableAt span: Span) {
        violation = .schema
        id = nil
        issues = [ValidationIssue(path: "$.data[?]", problem: .unreadable)]
        self.span = span
        fingerprint = Self.hash([span.lower.rawValue, span.upper.rawValue])
    }

    init(_ item: ItemWire, violation: ContractViolation, issues: [ValidationIssue], place: String) {
        self.violation = violation
        self.id = item.plan.id.flatMap { JWTID($0) }
        self.issues = Array(issues.prefix(Self.listedIssues))
        let faults = issues.flatMap { [String($0.path.dropFirst(place.count)), $0.problem.rawValue] }
        fingerprint = Self.hash([item.plan.id, item.plan.handle] + faults)
    }

    /// FNV-1a, because Swift's own hash differs between processes.
    private static func hash(_ texts: [String?]) -> Int64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for text in texts {
            for byte in (text ?? "").utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            hash = (hash ^ 0xff) &* 0x100_0000_01b3
        }
        return Int64(bitPattern: hash)
    }
}
