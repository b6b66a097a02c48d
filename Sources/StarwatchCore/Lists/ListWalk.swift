/// Decides which pages of a list one cycle asks for, and in which order they are stored.
package struct ListWalk: Sendable {
    /// The items of one page that are to be stored.
    package struct Commit: Sendable {
        /// The number of the page in the walk, from 1.
        package let number: Int
        /// The oldest first, as far as the list has an order.
        package fileprivate(set) var items: [ListItem]
        package let refused: [RefusedItem]
    }

    private let list: JSONPoll
    private let now: Timestamp
    /// The value that the requests of this walk are made of.
    private let since: SinceValue?
    /// The parameters of every request.
    private let parameters: [String: String]
    private var pages: [ListPage] = []
    private var request: ListRequest?
    private var asked: Set<String> = []
    /// The state of the list after the pages so far.
    package private(set) var state: ListState
    /// Whether older pages were left out, because the largest number of pages had news.
    package private(set) var isCut = false

    /// - Parameters:
    ///   - known: What is known of the list under the same settings.
    package init(_ list: JSONPoll, known: ListState, now: Timestamp) {
        (self.list, self.now, state) = (list, now, known)
        // The clock that limited the stored value can have been wrong.
        since = list.since.flatMap { _ in known.since?.limited(to: now) }
        (state.since, state.settings, state.meaning) = (since, list.fingerprint, list.meaning)
        var first = list.query
        if let setting = list.since, let since {
            first[setting.parameter] = since.parameter(reducedBy: setting.overlap)
        }
        parameters = first
        if case .number(let parameter, let number) = list.next { first[parameter] = "\(number)" }
        request = ListRequest(list.url, first, page: 1)
    }

    /// Whether an unchanged first page means that the others are unchanged too.
    package var canBeConditional: Bool { list.next == nil || list.order == .newestFirst }

    /// The next request; `nil` at the end of the walk.
    package mutating func next() -> ListRequest? {
        defer { if let url = request?.url { asked.insert(url) } }
        return request
    }

    /// Notes the validators of the first page, which hold if the walk takes all of it.
    package mutating func note(etag: String?, lastModified: String?) {
        (state.etag, state.lastModified) = canBeConditional ? (etag, lastModified) : (nil, nil)
    }

    /// Takes a page.
    ///
    /// - Parameter isLastKnown: Whether the last item of the page was seen before, or it has none.
    /// - Throws: ``PageRejection`` if the walk would never end.
    package mutating func receive(_ page: ListPage, isLastKnown: Bool) throws(PageRejection) {
        pages.append(page)
        guard pages.reduce(0, { $0 + $1.fetched }) <= JSONPoll.largestList else { throw .tooManyItems }
        // A time ahead of ours would leave out what comes until then.
        state.since = SinceValue.latest(state.since, page.since?.limited(to: now))
        // Validators are those of one URL, and the next walk asks for another one.
        let isMoved = list.since != nil && state.since != since
        if isMoved || !page.refused.isEmpty { (state.etag, state.lastModified) = (nil, nil) }
        request = nil
        // A page whose items were all set aside tells nothing of those behind it.
        let isKnown = isLastKnown && (page.fetched == 0 || !page.items.isEmpty)
        guard let next = page.next, !(list.order == .newestFirst && isKnown) else { return }
        guard pages.count < list.maxPages else {
            guard list.order != .newestFirst else { return isCut = true }
            throw .endless(
                isRepeated
                    ? "Each page has the items of the one before; correct next."
                    : "The list has more than \(list.maxPages) pages; raise max_pages, or ask for fewer with since."
            )
        }
        let following = following(next)
        guard !asked.contains(following.url) else {
            throw .endless("Page \(pages.count) leads to a page before it; correct next.")
        }
        request = following
    }

    /// Whether the server ignores the parameter of the next page.
    private var isRepeated: Bool {
        guard let last = pages.last, let former = pages.dropLast().last else { return false }
        return !last.items.isEmpty && last.items == former.items
    }

    private func following(_ next: ListPage.Next) -> ListRequest {
        switch next {
        case .url(let url): return ListRequest(url: url, page: pages.count + 1)
        case .parameter(let name, let value):
            var parameters = self.parameters
            parameters[name] = value
            return ListRequest(list.url, parameters, page: pages.count + 1)
        }
    }
}

extension ListWalk {
    /// The pages in the order in which they are stored: the oldest first, so that a walk that is interrupted leaves the rest
    /// above what is known. An item that moved between two pages is there once, in its newest version.
    package var commits: [Commit] {
        let isReversed = list.order == .newestFirst
        var newest: [[UInt8]: ListItem] = [:]
        for item in pages.lazy.flatMap(\.items) {
            // The server sent it later.
            let isOlder = newest[item.key].map { former in
                item.version.rank.flatMap { rank in former.version.rank.map { rank < $0 } } ?? false
            }
            if isOlder != true { newest[item.key] = item }
        }
        let ordered = isReversed ? Array(pages.enumerated().reversed()) : Array(pages.enumerated())
        return ordered.map { index, page in
            let items = isReversed ? page.items.reversed() : page.items
            return Commit(
                number: index + 1,
                items: items.compactMap { newest.removeValue(forKey: $0.key) },
                refused: page.refused
            )
        }
    }
}

extension JSONPoll {
    /// A number that tells settings apart by what they ask for and how they read it.
    fileprivate var fingerprint: Int64 {
        var parts = [url, items.rawValue, id.rawValue, version?.rawValue ?? "-", order.rawValue, "\(next as Any)"]
        parts += query.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
        parts += [since?.parameter ?? "-", since?.from.rawValue ?? "-"]
        return parts.stableHash
    }
}

extension JSONPoll {
    /// A number that tells settings apart by what they take for the same list, the same item and the same version.
    fileprivate var meaning: Int64 { [url, items.rawValue, id.rawValue, version?.rawValue ?? "-"].stableHash }
}

extension ListState {
    /// Whether the seen items and versions mean something else under these settings, so that the whole list would be news.
    package func isForeign(to list: JSONPoll) -> Bool { meaning.map { $0 != list.meaning } ?? false }

    /// The part that is still true under these settings: nothing if they have changed.
    package func valid(for list: JSONPoll) -> ListState { settings == list.fingerprint ? self : ListState() }
}

extension SinceValue {
    /// The later of two values of one form; the second if the forms differ.
    static func latest(_ one: SinceValue?, _ other: SinceValue?) -> SinceValue? {
        guard let one, let other else { return one ?? other }
        return one.form == other.form && one.value > other.value ? one : other
    }

    private var isTime: Bool { form != .number }

    /// The value, or the present second if that is earlier.
    fileprivate func limited(to now: Timestamp) -> SinceValue {
        isTime && value > now.milliseconds ? SinceValue(now.wholeSeconds * 1000, form) : self
    }

    /// The value as the server writes it.
    fileprivate func parameter(reducedBy overlap: Duration) -> String {
        let time = Timestamp(milliseconds: value) - overlap
        return switch form {
        // Not every server reads a fraction, and one that writes them does.
        case .iso8601: time.iso8601.replacing(".000Z", with: "Z")
        case .seconds: "\(time.wholeSeconds)"
        case .milliseconds: "\(time.milliseconds)"
        case .number: "\(value)"
        }
    }
}

extension PageRejection {
    fileprivate static func endless(_ sentence: String) -> PageRejection {
        PageRejection(
            violation: .cursor,
            issues: [ValidationIssue(path: "next", problem: .invalid)],
            sentence: sentence
        )
    }
}
