import FoundationEssentials

/// Turns the bytes of an answer into a checked page.
public enum PageDecoder {
    /// Which dialect an answer is in: only the canonical one has `pagination` (R-EP-07), or `planSummary` items.
    ///
    /// `nil` when the bytes are no page at all.
    public static func detect(_ bytes: [UInt8]) -> Dialect? {
        struct Probe: Decodable {
            struct Nothing: Decodable {
                init(from decoder: any Decoder) throws {}
            }
            var data: [Nothing]
            var pagination: Nothing?
        }
        guard let probe = try? JSONDecoder().decode(Probe.self, from: Data(bytes)) else { return nil }
        return probe.pagination == nil ? .endorser : .canonical
    }

    /// Checks and decodes a page.
    ///
    /// - Parameters:
    ///   - quarantine: Whether invalid items are refused one by one, instead of the page (`quarantine_invalid`).
    /// - Throws: ``PageRejection``; the page must then change no state (R-VAL-10).
    public static func decode(
        _ bytes: [UInt8],
        dialect: Dialect,
        validation: Validation,
        quarantine: Bool
    ) throws(PageRejection) -> Page {
        let decoder = JSONDecoder()
        decoder.userInfo[FieldReading.strictKey] = validation == .strict
        var wire: PageWire
        do {
            wire = try decoder.decode(PageWire.self, from: Data(bytes))
        } catch {
            throw PageRejection(violation: .schema, issues: [ValidationIssue(path: "$", problem: .invalid)])
        }
        if validation == .strict {
            if dialect == .canonical, wire.pagination == nil {
                wire.issues.append(ValidationIssue(path: "$.pagination", problem: .missing))
            }
            if wire.hitLimit == nil {
                wire.issues.append(ValidationIssue(path: "$.hitLimit", problem: .missing))
            }
        }
        guard wire.issues.isEmpty, let items = wire.data else {
            throw PageRejection(violation: .schema, issues: wire.issues)
        }
        var (changes, issues, rejected) = try changes(of: items, dialect: dialect, quarantine: quarantine)
        let reordered = sort(&changes, descending: dialect.isDescending)
        let (hasMore, nextAfter) = try continuation(of: wire, last: changes.last?.id, dialect: dialect)
        if hasMore && items.isEmpty { throw PageRejection(violation: .hitLimit, issues: []) }
        return Page(
            changes: changes,
            hasMore: hasMore,
            nextAfter: nextAfter,
            fetched: items.count,
            rejected: rejected,
            reordered: reordered,
            issues: issues
        )
    }

    private static func changes(
        of items: [ItemWire],
        dialect: Dialect,
        quarantine: Bool
    ) throws(PageRejection) -> ([Change], [ValidationIssue], Int) {
        var changes: [Change] = []
        changes.reserveCapacity(items.count)
        var refused: [ValidationIssue] = []
        var rejected = 0
        for (index, item) in items.enumerated() {
            var issues = item.issues
            var violation = ContractViolation.schema
            if issues.isEmpty, let text = item.id, let handle = item.handle {
                if let id = JWTID(text), id.kind == dialect.idKind {
                    changes.append(Change(id: id, plan: handle, name: item.name.flatMap { $0.isEmpty ? nil : $0 }))
                    continue
                }
                violation = JWTID(text) == nil ? .schema : .idKind
                issues.append(ValidationIssue(path: "$.data[\(index)].jwtId", problem: .invalid))
            }
            guard quarantine else { throw PageRejection(violation: violation, issues: issues) }
            refused.append(contentsOf: issues)
            rejected += 1
        }
        return (changes, refused, rejected)
    }

    /// Sorts the changes if they are out of order; whether they were (R-VAL-11).
    private static func sort(_ changes: inout [Change], descending: Bool) -> Bool {
        let inOrder = zip(changes, changes.dropFirst()).allSatisfy { a, b in
            descending ? a.id.rawValue > b.id.rawValue : a.id.rawValue < b.id.rawValue
        }
        guard !inOrder else { return false }
        changes.sort { descending ? $0.id.rawValue > $1.id.rawValue : $0.id.rawValue < $1.id.rawValue }
        return true
    }

    private static func continuation(
        of wire: PageWire,
        last: JWTID?,
        dialect: Dialect
    ) throws(PageRejection) -> (hasMore: Bool, nextAfter: JWTID?) {
        guard dialect == .canonical, let pagination = wire.pagination else { return (wire.hitLimit ?? false, nil) }
        guard pagination.hasMore == true else { return (false, nil) }
        guard let text = pagination.nextAfterId else { throw PageRejection(violation: .hitLimit, issues: []) }
        guard let next = JWTID(text), next.kind == dialect.idKind else {
            throw PageRejection(
                violation: JWTID(text) == nil ? .schema : .idKind,
                issues: [ValidationIssue(path: "$.pagination.nextAfterId", problem: .invalid)]
            )
        }
        // A cursor behind the last item would serve items twice; one at the item is common and harmless.
        if let last, next.precedes(last) == true { throw PageRejection(violation: .cursor, issues: []) }
        return (true, next)
    }
}
