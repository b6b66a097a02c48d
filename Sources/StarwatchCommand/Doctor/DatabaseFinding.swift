import Starwatch

/// The finding about the database's file.
enum DatabaseFinding {
    private static let area = "database"

    static func finding(_ trial: DatabaseTrial) -> Finding {
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

    /// - Parameter holder: The program, as `sqlite3, pid 12`.
    static func finding(lockedBy holder: String) -> Finding {
        Finding(
            area,
            .problem,
            "Another program holds a lock on the database: \(holder). End its transaction, or the program; the agent then "
                + "resumes by itself."
        )
    }
}
