/// Finds the item that makes a page unreadable, by asking for smaller ranges of it.
///
/// First it asks for a range without items. If that is unreadable too, the server or a proxy breaks every answer. Otherwise
/// it halves the range until the page ends just before the item, and asks once more for the range with the item, because
/// the cause can be gone. A ULID tells the time in milliseconds, so that about 45 requests find the item; the canonical
/// dialect's identifiers tell it in seconds. Other items of the same time cannot be told from it.
///
/// A range begins where the walk is: at the newest end of descending pages, at the oldest of ascending ones.
public struct UnreadableItemSearch: Sendable {
    /// The result of a search.
    public enum End: Sendable, Hashable {
        /// The item's place. The last readable page ends before it.
        case item(RefusedItem)
        /// Answers without items are unreadable too.
        case everything
        /// The range with the item is readable now.
        case nothing
    }

    private let query: PageQuery
    private let dialect: Dialect
    private let range: (oldest: Int64, newest: Int64)
    /// The ends of the range in units of time: the page up to ``bad`` is unreadable, and the one up to ``good`` is not.
    private var good: Int64 = 0
    private var bad: Int64 = 0
    private var isControlled = false
    /// Whether the search began with a place that was found before.
    private var isGuess: Bool
    public private(set) var end: End?

    /// - Parameters:
    ///   - query: The query of the unreadable page.
    ///   - latest: The latest time of an identifier.
    ///   - known: The place of an item that was found before, or ``place`` of an interrupted search, which is tried first;
    ///     `nil` if there is none.
    public init(_ query: PageQuery, dialect: Dialect, latest: Timestamp, known: RefusedItem.Span? = nil) {
        (self.query, self.dialect) = (query, dialect)
        let unit = Self.unit(of: dialect)
        let oldest = (query.after?.timestamp.milliseconds ?? 0) / unit
        let newest = max((query.before?.timestamp ?? latest).milliseconds / unit + 1, oldest + 1)
        range = (oldest, newest)
        isGuess = false
        if let (lower, upper) = known.map({ Self.times(of: $0, unit) }), oldest <= lower, upper <= newest {
            isGuess = true
            (good, bad) = dialect.isDescending ? (upper, lower) : (lower, upper)
        } else {
            begin()
        }
    }

    private mutating func begin() {
        (isControlled, isGuess) = (false, false)
        (good, bad) = dialect.isDescending ? (range.newest, range.oldest) : (range.oldest, range.newest)
    }

    /// The times of a place, which are at least one unit apart.
    private static func times(of place: RefusedItem.Span, _ unit: Int64) -> (lower: Int64, upper: Int64) {
        let lower = place.lower.timestamp.milliseconds / unit
        return (lower, max(place.upper.timestamp.milliseconds / unit, lower + 1))
    }

    /// The range in which the item lies, as far as an unfinished search has narrowed it; `nil` if nothing is known yet.
    package var place: RefusedItem.Span? {
        isControlled || isGuess ? RefusedItem.Span(id(min(good, bad)), id(max(good, bad))) : nil
    }

    /// The resolution of the time in an identifier, in milliseconds.
    private static func unit(of dialect: Dialect) -> Int64 { dialect.idKind == .ulid ? 1 : 1000 }

    private var isNarrow: Bool { abs(good - bad) <= 1 }
    private var asked: Int64 { !isControlled ? good : isNarrow ? bad : good + (bad - good) / 2 }

    /// The next request; `nil` when the search has ended.
    public var next: PageQuery? {
        guard end == nil else { return nil }
        return dialect.isDescending
            ? PageQuery(after: id(asked), before: query.before, limit: query.limit)
            : PageQuery(after: query.after, before: id(asked), limit: query.limit)
    }

    /// Takes the result of ``next``.
    public mutating func receive(isReadable: Bool) {
        switch (isControlled, isNarrow, isReadable) {
        case (false, _, true): isControlled = true
        case (false, _, false), (true, true, true):
            if isGuess { return begin() }
            end = isControlled ? .nothing : .everything
        case (true, true, false):
            // Up to `bad` the page is unreadable, up to `good` it is not, so the item's time is the unit between them.
            let time = min(good, bad)
            end = .item(RefusedItem(unreadableAt: .init(id(time), id(time + 1))))
        case (true, false, true): good = asked
        case (true, false, false): bad = asked
        }
    }

    /// The page to continue with. One with items is used as it is, and the walk continues after it. One without items
    /// passes the item as rejected.
    public func page(_ readable: Page, with item: RefusedItem) -> Page {
        var page = readable
        guard readable.fetched == 0, let span = item.span else {
            (page.hasMore, page.nextAfter) = (true, readable.hasMore ? readable.nextAfter : nil)
            return page
        }
        page.hasMore =
            dialect.isDescending
            ? query.after?.precedes(span.lower) ?? true : query.before.map { span.upper.precedes($0) == true } ?? true
        page.nextAfter = dialect.isDescending || !page.hasMore ? nil : span.upper
        page.fetched = 1
        page.refused = [item]
        return page
    }

    private func id(_ time: Int64) -> JWTID {
        .floor(dialect.idKind, at: Timestamp(milliseconds: time * Self.unit(of: dialect)))
    }
}
