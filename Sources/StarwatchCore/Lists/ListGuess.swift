/// Settings of a list, guessed from an answer. They are a proposal: a person confirms them.
package struct ListGuess: Sendable {
    /// The settings; their URL is the caller's.
    package private(set) var list = JSONPoll()
    /// The place of the time of an item, if it has one.
    private let time: JSONPointer?

    private static let ids = ["id", "uuid", "guid", "_id", "key", "number", "slug", "url", "name"]
    private static let versions = [
        "updated_at", "updatedAt", "updated", "modified_at", "modified", "lastModified", "last_modified", "version",
        "revision",
    ]
    private static let times = [
        "created_at", "createdAt", "created", "published_at", "publishedAt", "published", "date",
    ]
    private static let names = ["title", "name", "summary", "subject", "headline", "label"]
    private static let links = ["html_url", "web_url", "permalink", "link", "url", "href"]
    private static let cursors = [
        "/next_cursor", "/nextCursor", "/meta/next_cursor", "/pagination/next_cursor", "/cursor",
    ]
    private static let nextPages = ["/next", "/links/next", "/meta/next", "/paging/next", "/next_url"]

    /// - Parameter link: The header `Link`; `nil` for none.
    /// - Returns: `nil` if the bytes are not JSON, or have no list of objects with something that can be an id.
    package init?(_ body: [UInt8], link: String?) {
        guard JSONText.isBounded(body), let tree = JSONTree(json: body),
            let (place, items) = Self.lists(in: tree).max(by: { $0.items.count < $1.items.count }),
            let first = items.first, let id = Self.first(of: Self.ids, in: first)
        else { return nil }
        (list.items, list.id) = (place, id)
        list.version = Self.first(of: Self.versions, in: first)
        time = list.version ?? Self.first(of: Self.times, in: first)
        list.name = Self.first(of: Self.names, in: first)
        list.link = Self.first(of: Self.links, in: first) { $0.hasPrefix("http://") || $0.hasPrefix("https://") }
        list.order = order(of: items)
        list.next = Self.next(in: tree, link)
    }

    /// The lists of objects at the top of an answer, and up to two members below it.
    static func lists(in tree: JSONTree, below place: String = "") -> [(place: JSONPointer, items: [JSONTree])] {
        switch tree {
        case .list(let items):
            guard case .object? = items.first, let pointer = JSONPointer(place) else { return [] }
            return [(pointer, items)]
        case .object(let members):
            guard place.count(where: { $0 == "/" }) < 2 else { return [] }
            return members.sorted { $0.key < $1.key }.flatMap { lists(in: $1, below: "\(place)/\($0.escaped)") }
        case .null, .flag, .number, .decimal, .text: return []
        }
    }

    private static func first(
        of keys: [String],
        in item: JSONTree,
        where isWanted: (String) -> Bool = { _ in true }
    ) -> JSONPointer? {
        keys.lazy.compactMap { JSONPointer("/" + $0) }.first { pointer in
            guard let text = pointer.value(in: item)?.scalar, !text.isEmpty else { return false }
            return isWanted(text)
        }
    }

    private func order(of items: [JSONTree]) -> JSONPoll.Order {
        let times = items.compactMap { time?.value(in: $0)?.scalar }
        guard times.count == items.count, times.count > 1 else { return .none }
        let pairs = zip(times, times.dropFirst())
        if pairs.allSatisfy({ $0 >= $1 }) { return .newestFirst }
        return pairs.allSatisfy { $0 <= $1 } ? .oldestFirst : .none
    }

    private static func next(in tree: JSONTree, _ link: String?) -> JSONPoll.Next? {
        if link.flatMap(LinkHeader.next) != nil { return .linkHeader }
        let urls = nextPages.compactMap { JSONPointer($0) }
        if let place = urls.first(where: { $0.value(in: tree)?.scalar?.contains("/") == true }) {
            return .url(at: place)
        }
        return cursors.compactMap { JSONPointer($0) }.first { $0.value(in: tree)?.scalar?.isEmpty == false }
            .map { .cursor(at: $0, parameter: "cursor") }
    }
}

/// Advice about settings that find nothing in an answer. It names places and members, and no values.
package enum ListAdvice {
    /// The largest number of members that are named.
    private static let mostNames = 20

    /// A sentence for each setting that finds nothing.
    package static func sentences(for list: JSONPoll, in body: [UInt8]) -> [String] {
        guard let tree = JSONTree(json: body) else { return [] }
        guard case .list(let items)? = list.items.value(in: tree) else {
            let places = ListGuess.lists(in: tree).map(\.place.shown)
            return [
                "items finds no list at \(list.items.shown); "
                    + (places.isEmpty
                        ? "the answer has no list of objects." : "there is one at \(places.joined(separator: ", ")).")
            ]
        }
        guard let first = items.first else { return [] }
        var settings: [(String, JSONPointer?)] = [
            ("id", list.id), ("version", list.version), ("name", list.name), ("link", list.link),
            ("since.from", list.since?.from),
        ]
        settings += list.fields.sorted { $0.key < $1.key }.map { ("fields.\($0.key)", $0.value) }
        return settings.compactMap { setting, place in
            guard let place, items.allSatisfy({ place.value(in: $0)?.scalar?.isEmpty ?? true }) else { return nil }
            return "\(setting) finds nothing at \(place.shown) in any item; an item has \(members(of: first))."
        }
    }

    private static func members(of item: JSONTree) -> String {
        guard case .object(let members) = item, !members.isEmpty else { return "no members" }
        let names = members.keys.sorted().map { "/" + $0.escaped.withoutControls() }
        return names.prefix(mostNames).joined(separator: ", ") + (names.count > mostNames ? " and more" : "")
    }
}

extension String {
    /// The name of a member as a step of a pointer.
    fileprivate var escaped: String { replacing("~", with: "~0").replacing("/", with: "~1") }
}
