/// Finds the item that makes a page unreadable, by asking for smaller ranges of it.
///
/// First it asks for a range without items. If that is unreadable too, the server or a proxy breaks every answer. Otherwise
/// it halves the range until the page ends just before the item. A ULID tells the time in milliseconds, so that up to
/// 41 requests find it. What else the server has of the same millisecond cannot be told from it.
///
/// A range begins where the walk is: at the newest end of descending pages, at the oldest of ascending ones.
public struct UnreadableItemSearch: Sendable {
    /// The result of a search.
    public enum End: Sendable, Hashable {
        /// The item's place. The last readable page ends before it.
        case item(RefusedItem)
        /// Answers without items are unreadable too, or the item is gone.
        case nothing
    }

    private let query: PageQuery
    private let dialect: Dialect
    /// The ends of the range in units of time; the page up to ``bad`` is unreadable, and the one up to ``good`` is not.
    private var good: Int64
    private var bad: Int64
    private var isControlled = false
    public private(set) var end: End?

    /// - Parameters:
    ///   - query: The query of the unreadable page.
    ///   - latest: The latest time of an identifier.
    public init(_ query: PageQuery, dialect: Dialect, latest: Timestamp) {
        (self.query, self.dialect) = (query, dialect)
        let unit = Self.unit(of: dialect)
        let oldest = (query.after?.timestamp.milliseconds ?? 0) / unit
        let newest = (query.before?.timestamp ?? latest).milliseconds / unit + 1
        (good, bad) = dialect.isDescending ? (max(newest, oldest + 1), oldest) : (oldest, max(newest, oldest + 1))
    }

    /// The resolution of the time in an identifier, in milliseconds.
    private static func unit(of dialect: Dialect) -> Int64 { dialect.idKind == .ulid ? 1 : 1000 }

    private var middle: Int64 { isControlled ? good + (bad - good) / 2 : good }

    /// The next request; `nil` when the search has ended.
    public var next: PageQuery? {
        guard end == nil else { return nil }
        return dialect.isDescending
            ? PageQuery(after: id(middle), before: query.before, limit: query.limit)
            : PageQuery(after: query.after, before: id(middle), limit: query.limit)
    }

    /// Takes the result of ``next``.
    public mutating func receive(isReadable: Bool) {
        if !isControlled {
            isControlled = true
            if !isReadable { return end = .nothing }
        } else if isReadable {
            good = middle
        } else {
            bad = middle
        }
        guard abs(good - bad) <= 1 else { return }
        // Up to `bad` the page is unreadable, up to `good` it is not, so the item's time is the unit between them.
        let time = min(good, bad)
        end = .item(RefusedItem(unreadableAt: .init(id(time), id(time + 1))))
    }

    /// The page to continue with: the last readable one, and the item as rejected.
    public func page(_ readable: Page, with item: RefusedItem) -> Page {
        // More of it means that the item is gone, so it is a page as any other.
        guard !readable.hasMore, let span = item.span else { return readable }
        var page = readable
        page.hasMore =
            dialect.isDescending
            ? query.after?.precedes(span.lower) ?? true : query.before.map { span.upper.precedes($0) == true } ?? true
        page.nextAfter = dialect.isDescending || !page.hasMore ? nil : span.upper
        page.fetched += 1
        page.refused.append(item)
        return page
    }

    private func id(_ time: Int64) -> JWTID {
        .floor(dialect.idKind, at: Timestamp(milliseconds: time * Self.unit(of: dialect)))
    }
}
