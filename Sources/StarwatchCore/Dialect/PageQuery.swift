/// The parameters of one page request.
public struct PageQuery: Sendable, Hashable {
    /// Exclusive lower end; `nil` means the beginning.
    public var after: JWTID?
    /// Exclusive upper end of a descending walk; `nil` means the newest.
    public var before: JWTID?
    /// The wanted number of items. A server can ignore it.
    public var limit: Int?
    /// The row below which the page begins, in a report whose pages go by rows; `nil` for the newest.
    package var row: Int?

    public init(after: JWTID?, before: JWTID? = nil, limit: Int? = nil) {
        (self.after, self.before, self.limit) = (after, before, limit)
    }

    /// The body of a `plans_changed` request.
    public func body(for chunk: PlanChunk, startCursor: String) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(chunk.json.count + 128)
        body.append(contentsOf: #"{"planIds":"#.utf8)
        body.append(contentsOf: chunk.json)
        JSONQuotes.append("afterId", after?.rawValue ?? startCursor, to: &body)
        JSONQuotes.append("beforeId", before?.rawValue, to: &body)
        JSONQuotes.append("limit", plain: limit, to: &body)
        body.append(UInt8(ascii: "}"))
        return body
    }

    /// The query items of a GET request of a kind of poll.
    ///
    /// - Parameter account: The account; `nil` for a request that names none.
    package func items(
        of kind: PollKind,
        for account: DID?,
        plans: PlanChunk? = nil,
        startCursor: String
    ) -> [(String, String)] {
        if kind.walksRows { return rowItems(for: plans?.search, startCursor: startCursor) }
        var items: [(String, String)] = []
        if let filter = kind.traits.filter { items.append(filter) }
        if kind.scope == .recipient, let account { items.append(("recipientDid", account.rawValue)) }
        if let plans { items.append(("planIds", String(decoding: plans.json, as: UTF8.self))) }
        items.append(("afterId", after?.rawValue ?? startCursor))
        if let before { items.append(("beforeId", before.rawValue)) }
        return items
    }

    /// The items for a report in which `afterId` and `beforeId` are numbers of rows: an identifier as `afterId` finds nothing there.
    private func rowItems(for search: PlanSearch?, startCursor: String) -> [(String, String)] {
        var items = search?.parameters ?? []
        items.append(("jwtId_greaterThan", after?.rawValue ?? startCursor))
        if let before { items.append(("jwtId_lessThan", before.rawValue)) }
        if let row { items.append(("beforeId", "\(row)")) }
        return items
    }
}
