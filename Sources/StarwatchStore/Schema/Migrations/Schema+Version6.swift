extension Schema {
    /// The changes of version 6: the checks of `notification_outbox.state` compare with `=`.
    ///
    /// They mean the same as before, so only their stored text changes and no row is rewritten
    /// (https://www.sqlite.org/lang_altertable.html, section 7). SQLite's shell refuses it from 3.42 unless
    /// `.dbconfig defensive off` comes first.
    static let version6 = """
        -- In sqlite3 from 3.42: .dbconfig defensive off
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(replace(sql, \(literal(states)), \(literal(comparison(states)))),
            \(literal(unfinished)), \(literal(comparison(unfinished))))
            WHERE type = 'table' AND name = 'notification_outbox';
        PRAGMA writable_schema = RESET;

        """

    /// The lists as version 1 has them.
    private static let states = """
        state IN ('pending', 'claimed', 'delivered', 'acknowledged', 'dead',
                'cancelled', 'suppressed', 'evicted')
        """
    private static let unfinished = "state IN ('pending', 'claimed', 'delivered')"

    private static func comparison(_ list: String) -> String {
        let values = list.split(separator: "'").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        return values.map { "state = '\($0)'" }.joined(separator: " OR ")
    }

    private static func literal(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    }
}
