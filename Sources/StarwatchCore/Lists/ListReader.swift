/// Reads the pages of a list, as its settings say.
package struct ListReader: Sendable {
    /// The longest identifier, in bytes.
    private static let longestID = 2048
    /// The largest number of issues of a rejected page. A hostile one could have millions.
    private static let issueLimit = 100

    private let list: JSONPoll
    private let setsAside: Bool

    /// - Parameter setsAside: Whether an item that cannot be read is left out; otherwise its page is rejected.
    package init(_ list: JSONPoll, setsAside: Bool) { (self.list, self.setsAside) = (list, setsAside) }

    /// Reads an answer.
    ///
    /// - Parameter link: The header `Link`; `nil` for none.
    /// - Returns: `nil` if the bytes are not JSON.
    package func read(
        _ body: [UInt8],
        of request: ListRequest,
        link: String? = nil
    ) -> Result<ListPage, PageRejection>? {
        guard JSONText.isBounded(body) else { return JSONText.isValid(body) ? .failure(.tooComplex) : nil }
        guard let tree = JSONTree(json: body) else { return nil }
        do throws(PageRejection) { return .success(try page(tree, of: request, link)) } catch { return .failure(error) }
    }

    private func page(_ tree: JSONTree, of request: ListRequest, _ link: String?) throws(PageRejection) -> ListPage {
        for expectation in list.expect { try check(expectation, tree) }
        guard let found = list.items.value(in: tree) else {
            throw .list("The answer has no value at \(list.items.shown); correct items.", list.items, .missing)
        }
        guard case .list(let trees) = found else {
            throw .list("The value at \(list.items.shown) is no list; correct items.", list.items, .wrongType)
        }
        var page = ListPage()
        page.fetched = trees.count
        var refused: [(RefusedItem, sentence: String)] = []
        var places: [[UInt8]: Int] = [:]
        for (index, tree) in trees.enumerated() {
            switch item(tree, at: index, in: request) {
            case .success(let item): add(item, to: &page, &places)
            case .failure(let reason): refused.append((reason.item, reason.sentence))
            }
            page.since = SinceValue.latest(page.since, list.since.flatMap { SinceValue($0.from.value(in: tree)) })
        }
        if let first = refused.first, !setsAside {
            let issues = refused.prefix(Self.issueLimit).flatMap(\.0.issues)
            throw PageRejection(violation: .schema, issues: issues, isOfItems: true, sentence: first.sentence)
        }
        page.refused = refused.map(\.0)
        page.next = try next(after: tree, isEmpty: trees.isEmpty, request, link)
        return page
    }

    /// Adds an item, or the newer version of one that the page has already.
    private func add(_ item: ListItem, to page: inout ListPage, _ places: inout [[UInt8]: Int]) {
        guard let place = places[item.key] else {
            places[item.key] = page.items.count
            return page.items.append(item)
        }
        let other = page.items[place].version
        let isNewer =
            if let rank = item.version.rank, let former = other.rank, rank != former {
                rank > former
            } else {
                list.order == .oldestFirst
            }
        if isNewer { page.items[place] = item }
    }

    private func check(_ expectation: JSONPoll.Expectation, _ tree: JSONTree) throws(PageRejection) {
        let place = expectation.place
        guard let value = place.value(in: tree) else {
            throw .list("The answer has no value at \(place.shown), which expect asks for.", place, .missing)
        }
        switch expectation.test {
        case .exists: return
        case .equals(let text) where value.scalar == text: return
        case .equals(let text) where Int64(text) == nil && value.double.map { $0 == Double(text) } == true: return
        case .equals: throw .list("The value at \(place.shown) is not the one that expect asks for.", place, .invalid)
        case .atLeast(let least):
            if let number = value.double, number >= least { return }
            throw .list("The value at \(place.shown) is not as large as expect asks for.", place, .invalid)
        }
    }
}

// MARK: - Items

extension ListReader {
    private struct Refusal: Error {
        let item: RefusedItem
        let sentence: String
    }

    private func item(_ tree: JSONTree, at index: Int, in request: ListRequest) -> Result<ListItem, Refusal> {
        func refused(_ key: String, _ pointer: JSONPointer, _ value: JSONTree?, id: String = "") -> Refusal {
            let path = "\(list.items.rawValue)/\(index)\(pointer.rawValue)"
            let (fault, what): (ValidationIssue.Fault, String) =
                switch value {
                case nil, .null: (.missing, "there is none")
                case .list, .object, .flag, .decimal: (.wrongType, "it is no text and no whole number of 64 bits")
                case .text, .number: (.invalid, "it is empty, too long, or has control characters")
                }
            let issue = ValidationIssue(path: path, problem: fault)
            return Refusal(
                item: RefusedItem(issue, fingerprint: [id, key, pointer.rawValue, fault.rawValue].stableHash),
                sentence: "An item has no \(key) at \(path): \(what); correct \(key), or set such items aside."
            )
        }
        let found = list.id.value(in: tree)
        guard let id = found.flatMap(Self.key) else { return .failure(refused("id", list.id, found)) }
        var version = ItemVersion(digestOf: tree)
        if let pointer = list.version {
            let found = pointer.value(in: tree)
            guard let text = found.flatMap(Self.key) else {
                return .failure(refused("version", pointer, found, id: id))
            }
            version = ItemVersion(text, rank: Timestamp(iso8601: text)?.milliseconds ?? Int64(text))
        }
        let details = ItemDetails(
            link: list.link?.value(in: tree).flatMap(Self.text).flatMap { ListURL.resolved($0, against: request.url) },
            fields: list.fields.compactMapValues { $0.value(in: tree).flatMap(Self.line) }
        )
        let name = list.name?.value(in: tree).flatMap(Self.line)
        return .success(ListItem(id: id, version: version, name: name, details: details))
    }

    /// A text or a whole number that makes an item or a version one.
    private static func key(_ value: JSONTree) -> String? {
        switch value {
        case .text(let text):
            (1...longestID).contains(text.utf8.count) && text == text.withoutControls() ? text : nil
        case .number(let number): "\(number)"
        case .null, .flag, .decimal, .list, .object: nil
        }
    }

    private static func text(_ value: JSONTree) -> String? { if case .text(let text) = value { text } else { nil } }

    /// A value as one line of at most 500 characters; `nil` for an empty one, and for lists and objects.
    private static func line(_ value: JSONTree) -> String? {
        value.scalar.flatMap { PageDecoder.shortened($0.withoutControls().trimmingSpaces) }
    }
}

extension ItemVersion {
    /// A digest of an item, of 128 bits.
    fileprivate init(digestOf tree: JSONTree) {
        let bytes = StableJSON.bytes(of: tree)
        self.init("\(bytes.stableHash)-\(bytes.reversed().stableHash)")
    }
}

extension SinceValue {
    /// A time in ISO 8601, in seconds or in milliseconds, or another whole number; `nil` for all other values.
    fileprivate init?(_ value: JSONTree?) {
        guard let text = value?.scalar else { return nil }
        if let time = Timestamp(iso8601: text) {
            self.init(time.milliseconds, .iso8601)
        } else if let number = Int64(text), number >= 0 {
            switch text.utf8.count {
            case 10: self.init(number * 1000, .seconds)
            case 13: self.init(number, .milliseconds)
            default: self.init(number, .number)
            }
        } else {
            return nil
        }
    }
}

// MARK: - Next page

extension ListReader {
    private func next(
        after tree: JSONTree,
        isEmpty: Bool,
        _ request: ListRequest,
        _ link: String?
    ) throws(PageRejection) -> ListPage.Next? {
        switch list.next {
        case nil: return nil
        case .number(let parameter, let first):
            return isEmpty ? nil : .parameter(name: parameter, value: "\(first + request.page)")
        case .cursor(let place, let parameter):
            guard let value = value(at: place, in: tree) else { return nil }
            guard value != true, let cursor = value.scalar, cursor.utf8.count <= Self.longestID else {
                throw .next(
                    at: place.rawValue,
                    "is no text or number of at most \(Self.longestID) bytes; correct next."
                )
            }
            return .parameter(name: parameter, value: cursor)
        case .linkHeader:
            guard let target = link.flatMap(LinkHeader.next) else { return nil }
            return try url(target, at: "Link", request)
        case .url(let place):
            guard let value = value(at: place, in: tree) else { return nil }
            return try url(Self.text(value), at: place.rawValue, request)
        }
    }

    /// The value that leads to the next page; `nil` for one that servers send with the last page: none, or an empty one.
    private func value(at place: JSONPointer, in tree: JSONTree) -> JSONTree? {
        place.value(in: tree).flatMap { $0.isEmpty || $0 == false ? nil : $0 }
    }

    private func url(_ text: String?, at place: String, _ request: ListRequest) throws(PageRejection) -> ListPage.Next {
        guard let url = text.flatMap({ ListURL.resolved($0, against: request.url) }) else {
            throw .next(at: place, "is no URL that can be followed; correct next.")
        }
        guard ListURL.haveSameOrigin(url, list.url) else {
            throw .next(at: place, "has another scheme, host or port than url; correct url or next.")
        }
        // No server sees a fragment, so a URL with another one is the same page.
        return .url(String(url.prefix { $0 != "#" }))
    }
}

extension JSONPointer {
    /// The pointer as a sentence has it.
    var shown: String { rawValue.isEmpty ? "the top" : rawValue }
}

extension PageRejection {
    static func list(_ sentence: String, _ place: JSONPointer, _ fault: ValidationIssue.Fault) -> PageRejection {
        let path = place.rawValue.isEmpty ? "$" : place.rawValue
        return PageRejection(
            violation: .schema,
            issues: [ValidationIssue(path: path, problem: fault)],
            sentence: sentence
        )
    }

    /// - Parameter problem: The end of a sentence about the next page.
    fileprivate static func next(at place: String, _ problem: String) -> PageRejection {
        PageRejection(
            violation: .cursor,
            issues: [ValidationIssue(path: place, problem: .invalid)],
            sentence: "The next page at \(place) \(problem)"
        )
    }

    fileprivate static let tooComplex = PageRejection(
        violation: .schema,
        issues: [ValidationIssue(path: "$", problem: .invalid)],
        sentence: "The answer has a list of more than \(JSONText.longest) elements, more than \(JSONText.mostValues) "
            + "values, or more than \(JSONText.deepest) levels; ask for less with query."
    )

    static let tooManyItems = PageRejection(
        violation: .schema,
        issues: [],
        sentence: "The list has more than \(JSONPoll.largestList) items; ask for fewer with query or since."
    )
}
