/// The parameters of one page request.
public struct PageQuery: Sendable, Hashable {
    /// Exclusive lower end; `nil` means the beginning.
    public var after: JWTID?
    /// Exclusive upper end of a descending walk; `nil` means the newest.
    public var before: JWTID?
    /// The wanted number of items. A server can ignore it.
    public var limit: Int?

    public init(after: JWTID?, before: JWTID? = nil, limit: Int? = nil) {
        (self.after, self.before, self.limit) = (after, before, limit)
    }

    /// The body of a `plans_changed` request.
    public func body(for chunk: PlanChunk, startCursor: String) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(chunk.json.count + 128)
        body.append(contentsOf: #"{"planIds":"#.utf8)
        body.append(contentsOf: chunk.json)
        body.append(contentsOf: #","afterId":""#.utf8)
        body.append(contentsOf: (after?.rawValue ?? startCursor).utf8)
        body.append(UInt8(ascii: "\""))
        if let before {
            body.append(contentsOf: #","beforeId":""#.utf8)
            body.append(contentsOf: before.rawValue.utf8)
            body.append(UInt8(ascii: "\""))
        }
        if let limit {
            body.append(contentsOf: #","limit":"#.utf8)
            body.append(contentsOf: String(limit).utf8)
        }
        body.append(UInt8(ascii: "}"))
        return body
    }

    /// The query items of a request for offers or gifts. Only some endpoints take a `recipient`, or plans.
    public func items(recipient: DID?, plans: PlanChunk? = nil, startCursor: String) -> [(String, String)] {
        var items: [(String, String)] = []
        if let recipient { items.append(("recipientDid", recipient.rawValue)) }
        if let plans { items.append(("planIds", String(decoding: plans.json, as: UTF8.self))) }
        items.append(("afterId", after?.rawValue ?? startCursor))
        if let before { items.append(("beforeId", before.rawValue)) }
        return items
    }
}
