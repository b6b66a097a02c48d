import Starwatch

/// The finding about the database's file.
enum DatabaseFinding {
    private static let area = "database"

    /// - Parameter holder: The program that keeps the database locked, as `sqlite3, pid 12`; `nil` for none.
    static func finding(_ trial: DatabaseTrial, lockedBy holder: String? = nil) -> Finding {
        let pages = finding(pages: trial)
        return holder.flatMap { pages.state == .ok ? finding(lockedBy: $0) : nil } ?? pages
    }

    private static func finding(pages trial: DatabaseTrial) -> Finding {
        switch trial {
        case .sound: Finding(area, .ok, "Every page of the database is sound.")
        case .absent: Finding(area, .skipped, "There is no database yet; the agent's first start creates it.")
        case .older: Finding(area, .ok, "Every page of the database is sound; the next start updates its schema.")
        case .failed(let sentence):
            Finding(
                area,
                .problem,
                sentence.prefix(1).uppercased() + sentence.dropFirst() + (sentence.hasSuffix(".") ? "" : ".")
            )
        }
    }

    private static func finding(lockedBy holder: String) -> Finding {
        Finding(
            area,
            .problem,
            "Another program holds a lock on the database: \(holder). End its transaction, or the program; the agent then "
                + "resumes by itself."
        )
    }
}
