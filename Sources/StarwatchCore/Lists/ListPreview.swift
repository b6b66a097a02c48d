/// The first page of a list as its settings read it, for the person who writes them.
package struct ListPreview: Sendable {
    /// A place that some items do not have.
    package struct Gap: Sendable, Hashable {
        /// The setting, such as `name` or `fields.author`.
        package let setting: String
        package let place: JSONPointer
        /// The number of items without a value there.
        package let count: Int
    }

    /// The page, with the items that cannot be read set aside, or the reason why there is none.
    package let page: Result<ListPage, PageRejection>
    /// The places without a value, in the order of the settings.
    package let gaps: [Gap]
    /// The places of all values of the first item; without items, those of the whole answer. Names alone, no values.
    package let places: [String]
    /// The place of a list of objects, if there is none where the settings say; `nil` if there is no such list.
    package let otherList: JSONPointer?
    /// The text of each issue of an item that was set aside.
    package let refusals: [String]

    /// The largest number of listed places.
    private static let mostPlaces = 40

    /// Reads an answer.
    ///
    /// - Parameter link: The header `Link`; `nil` for none.
    /// - Returns: `nil` if the bytes are not JSON.
    package init?(_ body: [UInt8], of request: ListRequest, link: String?, as list: JSONPoll) {
        guard let page = ListReader(list, setsAside: true).read(body, of: request, link: link),
            let tree = JSONTree(json: body)
        else { return nil }
        self.page = page
        let items: [JSONTree]
        if case .list(let found)? = list.items.value(in: tree) {
            (items, otherList) = (found, nil)
        } else {
            (items, otherList) = ([], ListGuess.list(in: tree))
        }
        gaps = list.placesInItems.compactMap { setting, place in
            let count = items.count { place.value(in: $0).map { $0 == .null } ?? true }
            return count == 0 ? nil : Gap(setting: setting, place: place, count: count)
        }
        places = Array(Self.places(in: items.first ?? tree).prefix(Self.mostPlaces))
        refusals = (try? page.get())?.refused.flatMap(\.issues).map(\.description) ?? []
    }

    /// The places of the values in a tree, to the second level.
    private static func places(in tree: JSONTree) -> [String] {
        guard case .object(let members) = tree else { return [] }
        return members.sorted { $0.key < $1.key }.flatMap { name, value in
            let place = "/" + JSONPointer.escaped(name)
            guard case .object(let inner) = value, !inner.isEmpty else { return [place] }
            return inner.keys.sorted().map { "\(place)/\(JSONPointer.escaped($0))" }
        }
    }
}

extension JSONPoll {
    /// The places in an item, by setting.
    fileprivate var placesInItems: [(setting: String, place: JSONPointer)] {
        let places: [(String, JSONPointer?)] = [("id", id), ("version", version), ("name", name), ("link", link)]
        let named = fields.sorted { $0.key < $1.key }.map { ("fields.\($0.key)", Optional($0.value)) }
        return (places + named + [("since.from", since?.from)]).compactMap { setting, place in
            place.map { (setting, $0) }
        }
    }
}

extension JSONPointer {
    /// The name of a member as a step of a pointer.
    static func escaped(_ name: String) -> String { name.replacing("~", with: "~0").replacing("/", with: "~1") }
}
