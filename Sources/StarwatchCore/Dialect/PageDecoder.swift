import FoundationEssentials

/// Turns the bytes of an answer into a checked page.
public enum PageDecoder {
    /// What the first answer of a server says about its dialect.
    public enum Detection: Sendable, Hashable {
        case dialect(Dialect)
        /// A page without items that either dialect could have sent.
        case undecided
        case noPage
    }

    /// Which dialect an answer is in. Only the canonical one has `pagination` and `planSummary` items (R-EP-07); offers
    /// have neither (C-094), but each dialect has its own kind of identifier. Of a page without changes of plans the
    /// endorser server says that no limit was hit; one that says nothing may be a gateway's.
    public static func detect(_ bytes: [UInt8], of kind: PollKind) -> Detection {
        struct Probe: Decodable {
            struct Nothing: Decodable {
                init(from decoder: any Decoder) throws {}
            }
            struct Item: Decodable {
                enum CodingKeys: String, CodingKey { case jwtId, planSummary }
                let id: String?
                let isCanonical: Bool
                init(from decoder: any Decoder) throws {
                    let fields = try? decoder.container(keyedBy: CodingKeys.self)
                    id = try? fields?.decode(String.self, forKey: .jwtId)
                    isCanonical = fields?.contains(.planSummary) ?? false
                }
            }
            var data: [Item]
            var pagination: Nothing?
            var hitLimit: Nothing?
        }
        guard let probe = try? JSONDecoder().decode(Probe.self, from: Data(bytes)) else { return .noPage }
        if probe.pagination != nil || probe.data.contains(where: \.isCanonical) { return .dialect(.canonical) }
        if let id = probe.data.lazy.compactMap(\.id).compactMap({ JWTID($0) }).first,
            let dialect = Dialect.allCases.first(where: { $0.idKind == id.kind })
        {
            return .dialect(dialect)
        }
        guard kind == .starredProjects, probe.hitLimit != nil || !probe.data.isEmpty else { return .undecided }
        return .dialect(.endorser)
    }

    /// Checks and decodes a page.
    ///
    /// - Parameters:
    ///   - kind: What was asked for: only changes of plans come with `pagination`.
    ///   - quarantine: Whether invalid items are refused one by one, instead of the page (`quarantine_invalid`).
    ///   - latest: The latest time that an identifier may have; `nil`: any. One of the far future would carry the cursor
    ///     away, and every later poll would find nothing.
    /// - Throws: ``PageRejection``; the page must then change no state (R-VAL-10).
    public static func decode(
        _ bytes: [UInt8],
        dialect: Dialect,
        kind: PollKind = .starredProjects,
        validation: Validation,
        quarantine: Bool,
        latest: Timestamp? = nil
    ) throws(PageRejection) -> Page {
        let decoder = JSONDecoder()
        decoder.userInfo[FieldReading.strictKey] = validation == .strict
        var wire: PageWire
        do {
            // The decoder looks only at texts that are asked for.
            _ = try UTF8Span(validating: bytes.span)
            wire = try decoder.decode(PageWire.self, from: Data(bytes))
        } catch {
            throw PageRejection(violation: .schema, issues: [ValidationIssue(path: "$", problem: .invalid)])
        }
        if validation == .strict {
            if dialect == .canonical, kind == .starredProjects, wire.pagination == nil {
                wire.issues.append(ValidationIssue(path: "$.pagination", problem: .missing))
            }
            // The endorser server says it of offers only where it is true.
            if wire.hitLimit == nil, dialect == .canonical || kind == .starredProjects {
                wire.issues.append(ValidationIssue(path: "$.hitLimit", problem: .missing))
            }
        }
        guard wire.issues.isEmpty, let items = wire.data else {
            throw PageRejection(violation: .schema, issues: wire.issues)
        }
        var (changes, details, issues, rejected) = try changes(
            of: items,
            dialect: dialect,
            quarantine: quarantine,
            latest: latest
        )
        let reordered = sort(&changes, descending: dialect.isDescending)
        let (hasMore, nextAfter) = try continuation(
            of: wire,
            last: changes.last?.id,
            dialect: dialect,
            latest: latest
        )
        if hasMore && items.isEmpty { throw PageRejection(violation: .hitLimit, issues: []) }
        var page = Page(
            changes: changes,
            details: details,
            hasMore: hasMore,
            nextAfter: nextAfter,
            fetched: items.count,
            rejected: rejected,
            reordered: reordered,
            issues: issues
        )
        page.hasPagination = wire.pagination != nil
        return page
    }

    /// What is kept of a plan must not grow with what its author, or whoever answers in the server's place, puts there.
    private static let handleLimitBytes = 2048
    private static let nameLimitCharacters = 500

    private static func shortened(_ name: String) -> String? {
        // A character can be as long as one likes, so its bytes count too.
        var short = name[...]
        if name.utf8.count > nameLimitCharacters {
            short = name.prefix(nameLimitCharacters)
            while short.utf8.count > 8 * nameLimitCharacters { short.removeLast() }
            short = short.count < name.count ? short + "…" : short
        }
        return short.isEmpty ? nil : String(short)
    }

    private static func changes(
        of items: [ItemWire],
        dialect: Dialect,
        quarantine: Bool,
        latest: Timestamp?
    ) throws(PageRejection) -> ([Change], [JWTID: PlanDetails], [ValidationIssue], Int) {
        var changes: [Change] = []
        changes.reserveCapacity(items.count)
        var details: [JWTID: PlanDetails] = [:]
        var refused: [ValidationIssue] = []
        var rejected = 0
        for (index, item) in items.enumerated() {
            var issues = item.issues
            var violation = ContractViolation.schema
            if issues.isEmpty, let text = item.id, let handle = item.handle {
                let id = JWTID(text)
                let isInTime = id.map { id in latest.map { id.timestamp <= $0 } ?? true } ?? false
                if let id, id.kind == dialect.idKind, isInTime, handle.utf8.count <= handleLimitBytes {
                    changes.append(Change(id: id, plan: handle, name: item.name.flatMap(shortened)))
                    details[id] = item.details
                    continue
                }
                let isOtherKind = id.map { $0.kind != dialect.idKind } ?? false
                if isOtherKind { violation = .idKind }
                let field = isOtherKind || !isInTime ? "jwtId" : "handleId"
                issues.append(ValidationIssue(path: "$.data[\(index)].\(field)", problem: .invalid))
            }
            guard quarantine else { throw PageRejection(violation: violation, issues: issues) }
            refused.append(contentsOf: issues)
            rejected += 1
        }
        return (changes, details, refused, rejected)
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
        dialect: Dialect,
        latest: Timestamp?
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
        if let latest, next.timestamp > latest { throw PageRejection(violation: .cursor, issues: []) }
        // A cursor behind the last item would serve items twice; one at the item is common and harmless.
        if let last, next.precedes(last) == true { throw PageRejection(violation: .cursor, issues: []) }
        return (true, next)
    }
}
