import Starwatch

/// Invalid items of the server for a person.
enum QuarantineText {
    static func list(_ items: [QuarantineEntry]) -> String {
        guard !items.isEmpty else { return "No items." }
        return TextTable(
            titles: ["ID", "POLL", "KIND", "SEEN", "TIMES", "PAGE", "PATH", "PROBLEM"],
            right: [0, 4, 5],
            rows: items.flatMap { item in
                item.issues.enumerated().map { index, issue in
                    let head =
                        index == 0
                        ? ["\(item.id)", item.poll, item.kind, item.seenAt, "\(item.times)", "\(item.page)"]
                        : Array(repeating: "", count: 6)
                    return head + [issue.path, issue.problem]
                }
            }
        ).text
    }

    static func items(_ count: Int) -> String { "\(count) \(count == 1 ? "item" : "items")" }
}
