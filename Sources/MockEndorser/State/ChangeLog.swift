import Foundation

/// The rows that answers are made of, sorted by id, with those that will show only later kept apart.
struct ChangeLog: Sendable {
    /// Whether a new version of a plan replaces its row, as on the real server.
    let keepsOneRowPerPlan: Bool
    /// Rows in ascending order of id, comparing bytes.
    private(set) var rows: [ChangeRow] = []
    /// Every version of every plan, in ascending order of id.
    private(set) var versions: [String: [ChangeRow]] = [:]
    private var waiting: [(visibleAt: Date, row: ChangeRow)] = []
    private var rowIDOfPlan: [String: String] = [:]

    init(keepsOneRowPerPlan: Bool) {
        self.keepsOneRowPerPlan = keepsOneRowPerPlan
    }

    /// Adds a row that shows from `visibleAt`; `nil` means at once.
    mutating func add(_ row: ChangeRow, visibleAt: Date? = nil) {
        if let visibleAt {
            waiting.append((visibleAt, row))
        } else {
            show(row)
        }
    }

    /// Shows the rows whose time has come.
    mutating func reveal(at now: Date) {
        guard !waiting.isEmpty else { return }
        let due = waiting.filter { $0.visibleAt <= now }
        guard !due.isEmpty else { return }
        waiting.removeAll { $0.visibleAt <= now }
        for entry in due { show(entry.row) }
    }

    /// Whether a row or a former version with this id shows.
    func knows(_ id: String) -> Bool {
        let index = Self.firstIndex(in: rows) { $0.id >= id }
        if index < rows.count, rows[index].id == id { return true }
        guard keepsOneRowPerPlan else { return false }
        return versions.values.contains { list in list.contains { $0.id == id } }
    }

    /// The oldest `limit` rows of these plans between two ids, oldest first, and whether there are more.
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

    /// The newest `limit` rows of these plans between two ids, both exclusive, newest first.
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

    /// The newest version of a plan that is older than an id.
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
