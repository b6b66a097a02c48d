/// The settings of a list as its first answer suggests them, for a person who confirms them.
package struct ListGuess: Sendable, Hashable {
    package var items: JSONPointer
    /// `nil` if no member of the items tells them apart.
    package var id: JSONPointer?
    package var version: JSONPointer?
    package var name: JSONPointer?
    package var link: JSONPointer?
    package var next: JSONPoll.Next?
    package var order = JSONPoll.Order.none

    private static let lists = ["data", "items", "results", "entries", "records", "values"]
    private static let ids = ["id", "uuid", "guid", "key", "number", "slug", "sha", "url", "html_url", "link"]
    private static let versions = [
        "updated_at", "updatedAt", "updated", "last_modified", "lastModified", "modified_at", "modified", "version",
        "published_at", "publishedAt", "published",
    ]
    private static let names = ["title", "name", "full_name", "summary", "subject", "headline", "label", "tag_name"]
    private static let links = ["html_url", "web_url", "url", "link", "permalink", "href"]
    private static let times = ["created_at", "createdAt", "created", "date", "timestamp", "time"]
    /// The parts of an answer that can name the next page.
    private static let parts = ["", "/meta", "/links", "/_links", "/pagination", "/paging", "/cursor"]
    /// The names of the place and of the parameter.
    private static let cursors = [
        ("next_cursor", "cursor"), ("nextCursor", "cursor"), ("next_page_token", "page_token"),
        ("nextPageToken", "pageToken"), ("next", "cursor"),
    ]

    /// - Parameter link: The header `Link`; `nil` for none.
    /// - Returns: `nil` without a list of objects in an answer, or in one of its parts.
    package init?(_ body: [UInt8], link header: String?) {
        guard JSONText.isBounded(body), let tree = JSONTree(json: body),
            let found = Self.list(in: tree, at: "", depth: 2), let items = JSONPointer(found.place)
        else { return nil }
        self.items = items
        let trees = found.items
        id = Self.place(of: Self.ids, in: trees) { values in
            let texts = values.compactMap(Self.key)
            return texts.count == values.count && Set(texts).count == texts.count
        }
        version = Self.place(of: Self.versions, in: trees) { $0.allSatisfy { Self.key($0) != nil } }
        name = Self.place(of: Self.names, in: trees) { $0.allSatisfy { Self.text($0)?.isEmpty == false } }
        link = Self.place(of: Self.links, in: trees) { $0.allSatisfy(Self.isURL) }
        next = header.flatMap(LinkHeader.next) == nil ? Self.next(in: tree) : .linkHeader
        // An edit would not be noticed if it moved no item to the front.
        let time = version ?? Self.place(of: Self.times, in: trees) { $0.allSatisfy { Self.time($0) != nil } }
        order =
            time.map { place in Self.order(of: trees.compactMap { place.value(in: $0).flatMap(Self.time) }) } ?? .none
    }

    /// The place of the first list of objects; `nil` if there is none.
    static func list(in tree: JSONTree) -> JSONPointer? {
        list(in: tree, at: "", depth: 2).flatMap { JSONPointer($0.place) }
    }

    /// Returns the first list of objects: the tree itself, a member, or a member of a member.
    private static func list(in tree: JSONTree, at place: String, depth: Int) -> (place: String, items: [JSONTree])? {
        switch tree {
        case .list(let items):
            let areObjects = !items.isEmpty && items.allSatisfy { if case .object = $0 { true } else { false } }
            return areObjects ? (place, items) : nil
        case .object(let members) where depth > 0:
            let rank = { (name: String) in lists.firstIndex(of: name) ?? lists.count }
            let sorted = members.sorted { (rank($0.key), $0.key) < (rank($1.key), $1.key) }
            let isList = { (value: JSONTree) in if case .list = value { true } else { false } }
            // A list that is a member comes before one that is deeper.
            for (name, value) in sorted.filter({ isList($0.value) }) + sorted.filter({ !isList($0.value) }) {
                let place = "\(place)/\(JSONPointer.escaped(name))"
                if let found = list(in: value, at: place, depth: depth - 1) { return found }
            }
            return nil
        case .object, .null, .flag, .number, .decimal, .text: return nil
        }
    }

    /// The first member of these names that all items have, and whose values are fit.
    private static func place(
        of names: [String],
        in items: [JSONTree],
        where fits: ([JSONTree]) -> Bool
    ) -> JSONPointer? {
        names.lazy.compactMap { JSONPointer("/" + $0) }.first { place in
            let values = items.compactMap { place.value(in: $0) }
            return values.count == items.count && fits(values)
        }
    }

    private static func next(in tree: JSONTree) -> JSONPoll.Next? {
        for part in parts {
            for (name, parameter) in cursors + [("next_url", "cursor"), ("next_page_url", "cursor")] {
                guard let place = JSONPointer("\(part)/\(name)"), let value = place.value(in: tree),
                    let text = key(value)
                else { continue }
                return isURL(value) || text.hasPrefix("?") ? .url(at: place) : .cursor(at: place, parameter: parameter)
            }
        }
        return nil
    }

    /// The order of times; `none` if they do not tell.
    private static func order(of times: [Timestamp]) -> JSONPoll.Order {
        let pairs = zip(times, times.dropFirst())
        guard let first = times.first, times.contains(where: { $0 != first }) else { return .none }
        if pairs.allSatisfy({ $0 >= $1 }) { return .newestFirst }
        return pairs.allSatisfy { $0 <= $1 } ? .oldestFirst : .none
    }

    // MARK: Values

    private static func text(_ value: JSONTree) -> String? { if case .text(let text) = value { text } else { nil } }

    /// A text that is not empty, or a whole number.
    private static func key(_ value: JSONTree) -> String? {
        switch value {
        case .text(let text): text.isEmpty ? nil : text
        case .number(let number): "\(number)"
        case .null, .flag, .decimal, .list, .object: nil
        }
    }

    private static func isURL(_ value: JSONTree) -> Bool {
        text(value).map { text in ["https://", "http://", "/"].contains { text.hasPrefix($0) } } ?? false
    }

    /// A time in ISO 8601, in seconds or in milliseconds.
    private static func time(_ value: JSONTree) -> Timestamp? {
        switch value {
        case .text(let text): Timestamp(iso8601: text)
        case .number(let number) where "\(number)".count == 10: Timestamp(milliseconds: number * 1000)
        case .number(let number) where "\(number)".count == 13: Timestamp(milliseconds: number)
        case .null, .flag, .number, .decimal, .list, .object: nil
        }
    }
}
