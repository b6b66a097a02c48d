/// The server's answer to a request for many accounts: for the plans of all, or for everybody's claims. Each account takes the
/// page that it would have got if it had asked alone: the bytes of its items, in the server's order, in the server's frame.
package struct SharedAnswer: Sendable {
    /// One account's page.
    package struct Part: Sendable, Hashable {
        /// The body that the server would have sent.
        package let body: [UInt8]
        package let count: Int
        /// The number of the server's page that has the first item, from 0.
        package let page: Int
    }

    /// The largest number of pages. An answer with more changes serves nobody, and each account asks alone.
    private static let mostPages = 10
    /// The largest size in bytes, so that a hostile server cannot fill the memory with the answers for all portions.
    private static let mostBytes = 1 << 20

    private let kind: PollKind
    package let dialect: Dialect
    /// The exclusive lower end of the request.
    package let after: JWTID
    private let topics: Set<String>
    private var items: [(id: JWTID, json: ArraySlice<UInt8>, page: Int)] = []
    private var places: [String: [Int]] = [:]
    /// The number of the server's pages.
    package private(set) var pages = 0
    private var size = 0
    /// The members after the items.
    private var frame: [UInt8] = []

    /// - Parameter topics: The plans that the request names, or everybody's claims. See ``PollKind/topics(of:)``.
    package init(kind: PollKind = .starredProjects, dialect: Dialect, after: JWTID, topics: [String]) {
        (self.kind, self.dialect, self.after, self.topics) = (kind, dialect, after, Set(topics))
    }

    /// Adds the server's next page.
    ///
    /// - Returns: Whether each item has an identifier and is of a topic. Otherwise nobody knows whose it is, and the answer must
    ///   not be used.
    package mutating func add(_ body: [UInt8]) -> Bool {
        size += body.count
        guard pages < Self.mostPages, size <= Self.mostBytes else { return false }
        var isUsable = false
        let read: Void? = JSONValue.read(body, keys: PageKey.table) { isUsable = add($0, of: body) }
        pages += 1
        return read != nil && isUsable
    }

    private mutating func add(_ page: JSONValue, of body: [UInt8]) -> Bool {
        guard let data = page[.data], let count = data.count, count <= PageWire.longest else { return false }
        for value in data.elements {
            guard let item = kind.isOfPlans ? value[.planSummary] ?? value[.plan] : value, let source = value.source,
                let id = item[kind.traits.item == .confirmation ? .id : .jwtId]?.text.flatMap({ JWTID($0) }),
                id.kind == dialect.idKind,
                let topic = kind.isOfPlans ? item[.handleId]?.text : kind.rawValue, topics.contains(topic)
            else { return false }
            places[topic, default: []].append(items.count)
            items.append((id, body[source], pages))
        }
        // The last page has the frame of an end.
        frame = []
        if let limit = page[.hitLimit] {
            guard let isHit = limit.bool else { return false }
            frame += Array(#","hitLimit":\#(isHit)"#.utf8)
        }
        if let pagination = page[.pagination], !pagination.isNull {
            guard let source = pagination.source else { return false }
            frame += Array(#","pagination":"#.utf8) + body[source]
        }
        return true
    }

    /// Whether the request was for all of these topics.
    package func covers(_ topics: [String]) -> Bool { topics.allSatisfy(self.topics.contains) }

    /// The page of an account's topics after a cursor.
    package func part(of topics: [String], after cursor: JWTID?) -> Part {
        var found = topics.flatMap { places[$0] ?? [] }.filter { index in
            cursor.map { $0.precedes(items[index].id) == true } ?? true
        }
        found.sort()
        var body = Array(#"{"data":["#.utf8)
        for (number, index) in found.enumerated() {
            if number > 0 { body.append(UInt8(ascii: ",")) }
            body += items[index].json
        }
        body.append(UInt8(ascii: "]"))
        body += frame
        body.append(UInt8(ascii: "}"))
        return Part(body: body, count: found.count, page: found.first.map { items[$0].page } ?? 0)
    }
}
