/// An item that was rejected alone (`quarantine_invalid`). It holds nothing of the item but its identifier.
public struct RefusedItem: Sendable, Hashable {
    /// The largest number of listed issues.
    public static let listedIssues = 20

    public let violation: ContractViolation
    /// The item's identifier; `nil` if it has no valid one.
    public let id: JWTID?
    /// The first ``listedIssues`` issues, of which there is at least one.
    public let issues: [ValidationIssue]
    /// The same number for the same item with the same issues, wherever it stands. Nothing can be read from it.
    public let fingerprint: Int64

    init(_ item: ItemWire, violation: ContractViolation, issues: [ValidationIssue], place: String) {
        self.violation = violation
        self.id = item.plan.id.flatMap { JWTID($0) }
        self.issues = Array(issues.prefix(Self.listedIssues))
        // FNV-1a, because Swift's own hash differs between processes.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func mix(_ text: String?) {
            for byte in (text ?? "").utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            hash = (hash ^ 0xff) &* 0x100_0000_01b3
        }
        mix(item.plan.id)
        mix(item.plan.handle)
        for issue in issues {
            mix(String(issue.path.dropFirst(place.count)))
            mix(issue.problem.rawValue)
        }
        fingerprint = Int64(bitPattern: hash)
    }
}
