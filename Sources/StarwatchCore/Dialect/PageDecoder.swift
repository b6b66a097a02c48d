/// Turns the bytes of an answer into a validated page.
public struct PageDecoder: Sendable {
    /// The result of detecting a server's dialect from its first answer.
    public enum Detection: Sendable, Hashable {
        case dialect(Dialect)
        /// A page without items, which either dialect could have sent.
        case undecided
        case noPage
    }

    /// The result of one parse of an answer.
    public struct Reading: Sendable {
        /// The page, or the reason why it must change no state.
        public let page: Result<Page, PageRejection>
        /// The dialect that the answer shows; `nil` if it was not looked for.
        public let detection: Detection?
    }

    /// The expected dialect.
    public var dialect: Dialect
    /// Whether the answer can be of the other dialect. The one that it shows then counts, and a page of neither is
    /// rejected.
    public var detects = false
    /// The kind of poll. Only changes of plans come with `pagination`.
    public var kind: PollKind
    public var validation: Validation
    /// Whether to reject invalid items one by one instead of the page (`quarantine_invalid`).
    public var quarantine: Bool
    /// The latest allowed time of an identifier; `nil` for any. An identifier of the far future would move the cursor
    /// there, and later polls would find nothing.
    public var latest: Timestamp?
    /// The account, the cursor and the plans, for what is read beside the changes.
    public var context: PageContext

    public init(
        dialect: Dialect,
        kind: PollKind = .starredProjects,
        validation: Validation,
        quarantine: Bool,
        latest: Timestamp? = nil,
        context: PageContext = PageContext()
    ) {
        (self.dialect, self.kind, self.validation, self.quarantine) = (dialect, kind, validation, quarantine)
        (self.latest, self.context) = (latest, context)
    }

    /// Parses, validates and decodes a page; `nil` if the bytes are not JSON in UTF-8.
    public func read(_ bytes: [UInt8]) -> Reading? {
        JSONValue.read(bytes, keys: PageKey.table) { value in
            if detects {
                let detection = Self.detect(value, of: kind)
                if detection == .noPage { return Reading(page: .failure(.notAPage), detection: detection) }
                var decoder = self
                if case .dialect(let shown) = detection { decoder.dialect = shown }
                return Reading(page: decoder.page(value), detection: detection)
            }
            let page = page(value)
            guard case .failure(let rejection) = page, rejection.doubtsDialect else {
                return Reading(page: page, detection: nil)
            }
            return Reading(page: page, detection: Self.detect(value, of: kind))
        }
    }

    /// Validates and decodes a page.
    ///
    /// - Throws: ``PageRejection``; the page must then change no state.
    public func decode(_ bytes: [UInt8]) throws(PageRejection) -> Page {
        guard let reading = read(bytes) else { throw .notAPage }
        return try reading.page.get()
    }

    /// Detects the dialect of an answer.
    ///
    /// Only the canonical dialect has `pagination` and `planSummary` items. Offers have neither, but
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
        if let id = data.elements.lazy.compactMap({ ($0[.jwtId] ?? $0[.id])?.text }).compactMap({ JWTID($0) }).first,
            let dialect = Dialect.allCases.first(where: { $0.idKind == id.kind })
        {
            return .dialect(dialect)
        }
        guard kind.isOfPlans, isThere(.hitLimit) || count > 0 else { return .undecided }
        return .dialect(.endorser)
    }

    private func page(_ value: JSONValue) -> Result<Page, PageRejection> {
        do throws(PageRejection) { return .success(try page(PageWire(value, self))) } catch { return .failure(error) }
    }

    private func page(_ wire: PageWire) throws(PageRejection) -> Page {
        var issues = wire.issues
        if validation == .strict {
            if dialect == .canonical, kind.isOfPlans, wire.pagination == nil {
                issues.append(ValidationIssue(path: "$.pagination", problem: .missing))
            }
            // For offers the endorser server sends `hitLimit` only when it is true.
            if wire.hitLimit == nil, dialect == .canonical || kind.isOfPlans {
                issues.append(ValidationIssue(path: "$.hitLimit", problem: .missing))
            }
        }
        guard issues.isEmpty, let items = wire.data else { throw PageRejection(violation: .schema, issues: issues) }
        var (changes, refused) = try read(items)
        let reordered = sort(&changes) && !kind.walksRows
        if reordered, validation == .strict { throw PageRejection(violation: .order, issues: []) }
        let (hasMore, nextAfter) = try continuation(of: wire, last: changes.last?.id)
        if hasMore && items.isEmpty { throw PageRejection(violation: .hitLimit, issues: []) }
        var page = Page(
            changes: changes,
            hasMore: hasMore,
            nextAfter: nextAfter,
            fetched: items.count,
            reordered: reordered
        )
        page.refused = refused
        page.hasPagination = wire.pagination != nil
        page.lastRow = items.last?.row
        return page
    }

    /// Limits the stored size of a name, whatever its author sends.
    private static let nameLimitCharacters = 500

    static func shortened(_ name: String) -> String? {
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

    /// Reads the items. Without `quarantine` a page with an invalid one is rejected, with the issues of all of them.
    private func read(_ items: [ItemWire]) throws(PageRejection) -> (changes: [FetchedChange], refused: [RefusedItem]) {
        var changes: [FetchedChange] = []
        var refused: [RefusedItem] = []
        changes.reserveCapacity(items.count)
        var rejection: PageRejection?
        for (index, item) in items.enumerated() {
            let id = item.plan.id.flatMap { JWTID($0) }
            let (issues, violation) = faults(of: item, id, at: index)
            if let id, let handle = item.plan.handle, issues.isEmpty {
                changes.append(change(id, of: handle, item))
            } else if quarantine {
                var item = RefusedItem(item, violation: violation, issues: issues, place: "$.data[\(index)]")
                if let id, hasPlace(id) { item.span = .init(id, id) }
                refused.append(item)
            } else {
                let former = rejection?.issues ?? []
                rejection = PageRejection(
                    violation: rejection?.violation ?? violation,
                    issues: former + issues,
                    isOfItems: true
                )
                if former.count + issues.count >= Self.issueLimit { break }
            }
        }
        if let rejection { throw rejection }
        return (changes, refused)
    }

    private func change(_ id: JWTID, of plan: String, _ item: ItemWire) -> FetchedChange {
        var fetched = FetchedChange(
            Change(
                id: id,
                plan: plan,
                name: (item.plan.name ?? context.names[plan]).flatMap(Self.shortened),
                isOffer: item.isOffer,
                isEdition: item.ownHandle.map { context.isEdition(id, of: $0) } ?? false,
                fulfillsOffer: item.fulfillsOffer
            ),
            details: item.plan.details,
            claimedChanges: item.claimedChanges,
            isOwn: item.isOwn,
            previous: item.previous
        )
        (fetched.planClaim, fetched.links, fetched.location) = (item.planClaim, item.links, item.location)
        return fetched
    }

    /// The issues of an item; empty if it is valid.
    private func faults(of item: ItemWire, _ id: JWTID?, at index: Int) -> ([ValidationIssue], ContractViolation) {
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
            if !hasPlace(id) { issues.append(issue(.jwtId)) }
        }
        issues += item.issues
        if let handle = item.plan.handle, handle.utf8.count > ItemWire.longestHandle {
            issues.append(issue(.handleId))
        }
        return (issues.isEmpty ? [] : issues + item.plan.remarks, violation)
    }

    /// Whether an item's identifier is of the dialect's kind and not of the future, so that a cursor can pass it.
    private func hasPlace(_ id: JWTID?) -> Bool {
        guard let id, id.kind == dialect.idKind else { return false }
        return latest.map { id.timestamp <= $0 } ?? true
    }

    /// Sorts the changes and returns whether they were out of order.
    private func sort(_ changes: inout [FetchedChange]) -> Bool {
        let descending = dialect.isDescending
        let inOrder = zip(changes, changes.dropFirst()).allSatisfy { a, b in
            descending ? a.id.rawValue > b.id.rawValue : a.id.rawValue < b.id.rawValue
        }
        guard !inOrder else { return false }
        dialect.sort(&changes)
        return true
    }

    private func continuation(
        of wire: PageWire,
        last: JWTID?
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

extension PageRejection {
    /// The rejection of bytes that are no page of any dialect.
    package static let notAPage = PageRejection(
        violation: .schema,
        issues: [ValidationIssue(path: "$", problem: .invalid)]
    )

    /// Whether another dialect's page would be rejected so.
    fileprivate var doubtsDialect: Bool { violation == .schema || violation == .idKind }
}
