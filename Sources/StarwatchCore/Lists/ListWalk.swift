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
    private let isBootstrap: Bool
    private let now: Timestamp
    /// The parameters of every request.
    private let parameters: [String: String]
    private var pages: [ListPage] = []
    private var request: ListRequest?
    private var asked: Set<String> = []
    /// What is known of the list after the pages so far.
    package private(set) var state: ListState
    /// Whether older pages were left out, because the largest number of pages had news.
    package private(set) var isCut = false

    /// - Parameters:
    ///   - known: What is known of the list under the same settings.
    ///   - isBootstrap: Whether the list is only remembered, so that its newest page tells enough if it is ordered.
    package init(_ list: JSONPoll, known: ListState, isBootstrap: Bool, now: Timestamp) {
        (self.list, self.isBootstrap, self.now, state) = (list, isBootstrap, now, known)
        (state.settings, state.meaning) = (list.fingerprint, list.meaning)
        var first = list.query
        if let since = list.since, let value = known.since {
            first[since.parameter] = value.parameter(reducedBy: since.overlap)
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
        if !page.refused.isEmpty { (state.etag, state.lastModified) = (nil, nil) }
        // A time ahead of ours would leave out what comes until then.
        state.since = SinceValue.latest(state.since, page.since?.limited(to: now))
        request = nil
        guard let next = page.next, !(list.order == .newestFirst && (isLastKnown || isBootstrap)) else { return }
        guard pages.count < list.maxPages else {
            guard list.order != .newestFirst else { return isCut = true }
            throw .endless(
                "The list has more than \(list.maxPages) pages; raise max_pages, or ask for fewer with since."
            )
        }
        let following = following(next)
        guard !asked.contains(following.url) else {
            throw .endless("The next page is one that was there before; correct next.")
        }
        request = following
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
        var newest: [String: ListItem] = [:]
        for item in pages.lazy.flatMap(\.items) {
            // The server sent it later.
            let isOlder = newest[item.id].map { former in
                item.version.rank.flatMap { rank in former.version.rank.map { rank < $0 } } ?? false
            }
            if isOlder != true { newest[item.id] = item }
        }
        let ordered = isReversed ? Array(pages.enumerated().reversed()) : Array(pages.enumerated())
        return ordered.map { index, page in
            let items = isReversed ? page.items.reversed() : page.items
            return Commit(
                number: index + 1,
                items: items.compactMap { newest.removeValue(forKey: $0.id) },
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
    /// A number that tells settings apart by what they take for the same item and the same version.
    fileprivate var meaning: Int64 { [id.rawValue, version?.rawValue ?? "-"].stableHash }
}

extension ListState {
    /// Whether the seen items and versions mean something else under these settings, so that the whole list would be news.
    package func isForeign(to list: JSONPoll) -> Bool { meaning.map { $0 != list.meaning } ?? false }

    /// What is still true under these settings: nothing if they have changed.
    package func valid(for list: JSONPoll) -> ListState { settings == list.fingerprint ? self : ListState() }
}

extension SinceValue {
    /// The later of two values of one form; the second if the forms differ.
    static func latest(_ one: SinceValue?, _ other: SinceValue?) -> SinceValue? {
        guard let one, let other else { return one ?? other }
        return one.form == other.form && one.value > other.value ? one : other
    }

    private var isTime: Bool { form != .number }

    /// The value, or the present time if that is earlier.
    fileprivate func limited(to now: Timestamp) -> SinceValue {
        isTime ? SinceValue(min(value, now.milliseconds), form) : self
    }

    /// The value as the server writes it.
    fileprivate func parameter(reducedBy overlap: Duration) -> String {
        let time = Timestamp(milliseconds: value) - overlap
        return switch form {
        case .iso8601: time.iso8601
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
