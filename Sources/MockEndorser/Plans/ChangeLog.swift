import Foundation

/// The published changes: visible rows sorted by identifier, and rows that become visible later.
struct ChangeLog: Sendable {
    /// Whether a new version of a plan replaces its row, as on the real server.
    let keepsOneRowPerPlan: Bool
    /// Visible rows in ascending byte order of their identifiers.
    private(set) var rows: [ChangeRow] = []
    /// Visible versions of each plan, in ascending order of their identifiers.
    private(set) var versions: [String: [ChangeRow]] = [:]
    /// Identifiers of all rows in the order of publication, including those not yet visible.
    private(set) var publishedIDs: [String] = []
    /// The last published row of each plan, even if it is not yet visible.
    private(set) var latest: [String: ChangeRow] = [:]
    private var waiting: [(visibleAt: Date, row: ChangeRow)] = []
    private var rowIDOfPlan: [String: String] = [:]

    init(keepsOneRowPerPlan: Bool) { self.keepsOneRowPerPlan = keepsOneRowPerPlan }

    /// Adds a row that becomes visible at `visibleAt`; `nil` makes it visible immediately.
    mutating func add(_ row: ChangeRow, visibleAt: Date? = nil) {
        publishedIDs.append(row.id)
        latest[row.plan.id] = row
        if let visibleAt {
            waiting.append((visibleAt, row))
        } else {
            show(row)
        }
    }

    /// Makes the rows that are due visible.
    mutating func reveal(at now: Date) {
        guard !waiting.isEmpty else { return }
        let due = waiting.filter { $0.visibleAt <= now }
        guard !due.isEmpty else { return }
        waiting.removeAll { $0.visibleAt <= now }
        for entry in due { show(entry.row) }
    }

    /// Whether a row or a former version with this identifier is visible.
    func knows(_ id: String) -> Bool {
        let index = Self.firstIndex(in: rows) { $0.id >= id }
        if index < rows.count, rows[index].id == id { return true }
        guard keepsOneRowPerPlan else { return false }
        return versions.values.contains { list in list.contains { $0.id == id } }
    }

    /// Returns the oldest `limit` rows of these plans between two identifiers, oldest first, and the row after them.
    func ascending(
        plans: Set<String>,
        after: String,
        inclusive: Bool = false,
        before: String?,
        limit: Int
    ) -> (rows: [ChangeRow], next: ChangeRow?) {
        var page: [ChangeRow] = []
        var index = Self.firstIndex(in: rows) { inclusive ? $0.id >= after : $0.id > after }
        while index < rows.count {
            let row = rows[index]
            if let before, row.id >= before { break }
            if plans.contains(row.plan.id) {
                if page.count == limit { return (page, row) }
                page.append(row)
            }
            index += 1
        }
        return (page, nil)
    }

    /// Returns the newest `limit` rows of these plans between two identifiers, both exclusive, newest first.
    func descending(plans: Set<String>, after: String, before: String?, limit: Int) -> [ChangeRow] {
        var page: [ChangeRow] = []
        var index = before.map { bound in Self.firstIndex(in: rows) { $0.id >= bound } } ?? rows.count
        while index > 0, page.count < limit {
            index -= 1
            let row = rows[index]
            if row.id <= after { break }
            if plans.contains(row.plan.id) { page.append(row) }
        }
        return page
    }

    /// Returns the newest version of a plan that is older than an identifier.
    func version(of planID: String, before id: String) -> ChangeRow? {
        guard let list = versions[planID] else { return nil }
        let index = Self.firstIndex(in: list) { $0.id >= id }
        return index > 0 ? list[index - 1] : nil
    }

    private mutating func show(_ row: ChangeRow) {
        if keepsOneRowPerPlan, let old = rowIDOfPlan.updateValue(row.id, forKey: row.plan.id) {
            let index = Self.firstIndex(in: rows) { $0.id >= old }
            if index < rows.count, rows[index].id == old { rows.remove(at: index) }
        }
        Self.insert(row, into: &rows)
        Self.insert(row, into: &versions[row.plan.id, default: []])
    }

    private static func insert(_ row: ChangeRow, into list: inout [ChangeRow]) {
        if let last = list.last, last.id >= row.id {
            list.insert(row, at: firstIndex(in: list) { $0.id >= row.id })
        } else {
            list.append(row)
        }
    }

    private static func firstIndex(in list: [ChangeRow], where isPast: (ChangeRow) -> Bool) -> Int {
        var low = 0
        var high = list.count
        while low < high {
            let middle = (low + high) / 2
            if isPast(list[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
