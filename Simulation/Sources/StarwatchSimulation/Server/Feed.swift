import StarwatchCore

/// Change of a plan on the server. Times are microseconds since the start of the simulation.
struct FeedRow: Sendable {
    let id: String
    let plan: String
    let createdAt: Int64
    var visibleAt: Int64
    /// Time at which a later change of the same plan replaces this one.
    var hiddenAt = Int64.max
    var form = ItemForm.plain
    /// `true` if a change with a later time in its identifier was published before, by a clock that was ahead.
    var isOvertaken = false

    func isVisible(at now: Int64) -> Bool { visibleAt <= now && now < hiddenAt }
    var isLate: Bool { visibleAt > createdAt }
    /// The time in the identifier, with its resolution.
    var time: Substring { id.prefix(10) }
}

/// Changes on the server, sorted by identifier.
struct Feed: Sendable {
    private(set) var rows: [FeedRow] = []
    private var lastOfPlan: [String: String] = [:]
    /// Times of changes that make their page unreadable.
    private var unreadableTimes: Set<Substring> = []
    private let keepsOneRowPerPlan: Bool

    init(keepsOneRowPerPlan: Bool) {
        self.keepsOneRowPerPlan = keepsOneRowPerPlan
    }

    mutating func add(_ row: FeedRow) {
        var row = row
        row.isOvertaken = rows.last.map { row.time < $0.time } ?? false
        if row.form.isUnreadable { unreadableTimes.insert(row.time) }
        if keepsOneRowPerPlan {
            if let former = lastOfPlan[row.plan] {
                let index = firstIndex(after: former) - 1
                rows[index].hiddenAt = min(rows[index].hiddenAt, row.visibleAt)
            }
            lastOfPlan[row.plan] = row.id
        }
        rows.insert(row, at: firstIndex(after: row.id))
    }

    /// Shows every change from now on that would appear late.
    mutating func reveal(at now: Int64) {
        for index in rows.indices { rows[index].visibleAt = min(rows[index].visibleAt, now) }
    }

    subscript(id: String) -> FeedRow? {
        let index = firstIndex(after: id) - 1
        return index >= 0 && rows[index].id == id ? rows[index] : nil
    }

    /// Returns `true` if the change makes its page unreadable, or has the time of one that does. The agent can only tell
    /// the time of such an item.
    func isUnreadable(_ row: FeedRow) -> Bool { unreadableTimes.contains(row.time) }

    /// Returns visible rows of `plans` between two identifiers, both exclusive; `hasMore` is `true` if the limit cut them.
    func page(
        of plans: Set<String>,
        after: String,
        before: String?,
        isDescending: Bool,
        limit: Int,
        now: Int64
    ) -> (rows: [FeedRow], hasMore: Bool) {
        let low = firstIndex(after: after)
        let high = before.map { firstIndex(atOrAfter: $0) } ?? rows.count
        var page: [FeedRow] = []
        guard low < high else { return (page, false) }
        for offset in 0..<high - low {
            let row = rows[isDescending ? high - 1 - offset : low + offset]
            guard row.isVisible(at: now), plans.contains(row.plan) else { continue }
            if page.count == limit { return (page, true) }
            page.append(row)
        }
        return (page, false)
    }

    private func firstIndex(after id: String) -> Int { partition { $0 > id } }
    private func firstIndex(atOrAfter id: String) -> Int { partition { $0 >= id } }

    private func partition(_ isPast: (String) -> Bool) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if isPast(rows[middle].id) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
