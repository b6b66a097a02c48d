/// Turns the bytes of an answer into a validated page.
public enum PageDecoder {
    /// The result of detecting a server's dialect from its first answer.
    public enum Detection: Sendable, Hashable {
        case dialect(Dialect)
        /// A page without items, which either dialect could have sent.
        case undecided
        case noPage
    }

    /// Detects the dialect of an answer.
    ///
    /// Only the canonical dialect has `pagination` and `planSummary` items (R-EP-07). Offers have neither, but
    /// each dialect has its own kind of identifier. On an empty page of plans the endorser server sends `hitLimit:
    /// false`. An empty page without it can come from a gateway, so it decides nothing. Bytes that are not UTF-8 are no
    /// page.
    public static func detect(_ bytes: [UInt8], of kind: PollKind) -> Detection {
        JSONValue.read(bytes, keys: PageKey.table) { detect($0, of: kind) } ?? .noPage
    }

    private static func detect(_ page: JSONValue, of kind: PollKind) -> Detection {
        guard let data = page[.data], let count = data.count, count <= PageWire.longest else { return .noPage }
        let isThere = { (key: PageKey) in page[key].map { !$0.isNull } ?? false }
        if isThere(.pagination) || data.elements.contains(where: { $0[.planSummary] != nil }) {
            return .dialect(.canonical)
        }
        if let id = data.elements.lazy.compactMap({ $0[.jwtId]?.text }).compactMap({ JWTID($0) }).first,
            let dialect = Dialect.allCases.first(where: { $0.idKind == id.kind })
        {
            return .dialect(dialect)
        }
        guard kind == .starredProjects, isThere(.hitLimit) || count > 0 else { return .undecided }
        return .dialect(.endorser)
    }

    /// Validates and decodes a page.
    ///
    /// - Parameters:
    ///   - kind: The kind of poll. Only changes of plans come with `pagination`.
    ///   - quarantine: Whether to reject invalid items one by one instead of the page (`quarantine_invalid`).
    ///   - latest: The latest allowed time of an identifier; `nil` for any. An identifier of the far future would move
    ///     the cursor there, and later polls would find nothing.
    ///   - context: The account and the cursor, for what is read beside the changes.
    /// - Throws: ``PageRejection``; the page must then change no state (R-VAL-10).
    public static func decode(
        _ bytes: [UInt8],
        dialect: Dialect,
        kind: PollKind = .starredProjects,
        validation: Validation,
        quarantine: Bool,
        latest: Timestamp? = nil,
        context: PageContext = PageContext()
    ) throws(PageRejection) -> Page {
        let rules = PageRules(
            strict: validation == .strict,
            mustBeSummary: dialect == .canonical && kind == .starredProjects,
            context: context
        )
        guard var wire = JSONValue.read(bytes, keys: PageKey.table, { PageWire($0, rules) }) else {
            throw PageRejection(violation: .schema, issues: [ValidationIssue(path: "$", problem: .invalid)])
        }
        if validation == .strict {
            if dialect == .canonical, kind == .starredProjects, wire.pagination == nil {
                wire.issues.append(ValidationIssue(path: "$.pagination", problem: .missing))
            }
            // For offers the endorser server sends `hitLimit` only when it is true.
            if wire.hitLimit == nil, dialect == .canonical || kind == .starredProjects {
                wire.issues.append(ValidationIssue(path: "$.hitLimit", problem: .missing))
            }
        }
        guard wire.issues.isEmpty, let items = wire.data else {
            throw PageRejection(violation: .schema, issues: wire.issues)
        }
        var found = try read(items, dialect: dialect, quarantine: quarantine, latest: latest)
        let reordered = sort(&found.changes, descending: dialect.isDescending)
        if reordered, validation == .strict { throw PageRejection(violation: .order, issues: []) }
        let (hasMore, nextAfter) = try continuation(
            of: wire,
            last: found.changes.last?.id,
            dialect: dialect,
            latest: latest
        )
        if hasMore && items.isEmpty { throw PageRejection(violation: .hitLimit, issues: []) }
        var page = Page(
            changes: found.changes,
            details: found.details,
            hasMore: hasMore,
            nextAfter: nextAfter,
            fetched: items.count,
            reordered: reordered
        )
        page.refused = found.refused
        page.claimedChanges = found.claimedChanges
        page.own = found.own
        page.previous = found.previous
        page.hasPagination = wire.pagination != nil
        return page
    }

    /// Limits the stored size of a name, whatever its author sends.
    private static let nameLimitCharacters = 500

    private static func shortened(_ name: String) -> String? {
        // A character can have any number of bytes, so the bytes are limited too.
        var short = name[...]
        if name.utf8.count > nameLimitCharacters {
            short = name.prefix(nameLimitCharacters)
            while short.utf8.count > 8 * nameLimitCharacters { short.removeLast() }
            short = short.count < name.count ? short + "…" : short
        }
        return short.isEmpty ? nil : String(short)
    }

    /// The largest number of issues of a rejected page. A hostile one could have millions.
    private static let issueLimit = 100

    /// Content of a page's items.
    private struct Found {
        var changes: [Change] = []
        var details: [JWTID: PlanDetails] = [:]
        var claimedChanges: [JWTID: [String: FieldChange]] = [:]
        var refused: [RefusedItem] = []
        var own: Set<JWTID> = []
        var previous: [JWTID: JWTID] = [:]
    }

    /// Reads the items. Without `quarantine` a page with an invalid one is rejected, with the issues of all of them.
    private static func read(
        _ items: [ItemWire],
        dialect: Dialect,
        quarantine: Bool,
        latest: Timestamp?
    ) throws(PageRejection) -> Found {
        var found = Found()
        found.changes.reserveCapacity(items.count)
        found.details.reserveCapacity(items.count)
        var rejection: PageRejection?
        for (index, item) in items.enumerated() {
            let id = item.plan.id.flatMap { JWTID($0) }
            let (issues, violation) = faults(of: item, id, at: index, dialect: dialect, latest: latest)
            guard let id, let handle = item.plan.handle, issues.isEmpty else {
                let place = "$.data[\(index)]"
                if quarantine {
                    var refused = RefusedItem(item, violation: violation, issues: issues, place: place)
                    if let id, hasPlace(id, dialect: dialect, latest: latest) { refused.span = .init(id, id) }
                    found.refused.append(refused)
                } else {
                    let former = rejection?.issues ?? []
                    rejection = PageRejection(
                        violation: rejection?.violation ?? violation,
                        issues: former + issues,
                        isOfItems: true
                    )
                    if former.count + issues.count >= issueLimit { break }
                }
                continue
            }
            let name = item.plan.name.flatMap(shortened)
            found.changes.append(Change(id: id, plan: handle, name: name, isOffer: item.isOffer))
            found.details[id] = item.plan.details
            found.claimedChanges[id] = item.claimedChanges
            if item.isOwn { found.own.insert(id) }
            if let previous = item.previous { found.previous[id] = previous }
        }
        if let rejection { throw rejection }
        return found
    }

    /// The issues of an item; empty if it is valid.
    private static func faults(
        of item: ItemWire,
        _ id: JWTID?,
        at index: Int,
        dialect: Dialect,
        latest: Timestamp?
    ) -> ([ValidationIssue], ContractViolation) {
        var issues: [ValidationIssue] = []
        var violation = ContractViolation.schema
        func issue(_ key: PageKey) -> ValidationIssue {
            let keys = [item.place, key].compactMap { $0?.name }
            return ValidationIssue(path: "$.data[\(index)]." + keys.joined(separator: "."), problem: .invalid)
        }
        if item.plan.id != nil {
            let isOtherKind = id.map { $0.kind != dialect.idKind } ?? false
            // An item with other faults says nothing about the dialect.
            if isOtherKind, item.issues.isEmpty { violation = .idKind }
            if !hasPlace(id, dialect: dialect, latest: latest) { issues.append(issue(.jwtId)) }
        }
        issues += item.issues
        if let handle = item.plan.handle, handle.utf8.count > ItemWire.longestHandle {
            issues.append(issue(.handleId))
        }
        return (issues.isEmpty ? [] : issues + item.plan.remarks, violation)
    }

    /// Whether an item's identifier is of the dialect's kind and not of the future, so that a cursor can pass it.
    private static func hasPlace(_ id: JWTID?, dialect: Dialect, latest: Timestamp?) -> Bool {
        guard let id, id.kind == dialect.idKind else { return false }
        return latest.map { id.timestamp <= $0 } ?? true
    }

    /// Sorts the changes and returns whether they were out of order (R-VAL-11).
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
        // A cursor behind the last item would repeat items. A cursor at the last item is common and harmless.
        if let last, next.precedes(last) == true { throw PageRejection(violation: .cursor, issues: []) }
        return (true, next)
    }
}
