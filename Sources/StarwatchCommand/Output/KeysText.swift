import Starwatch

/// The keys of the database as text for a person.
enum KeysText {
    static func list(_ report: KeysReport) -> String {
        guard let master = report.masterKey else { return "The database is not encrypted." }
        let keys = TextTable(
            titles: ["DATA KEY", "STATE", "CREATED", "USES UP TO", "OF"],
            rows: report.dataKeys.map { key in
                ["\(key.id)", key.state.rawValue, key.createdAt, "\(key.uses)", key.account ?? "no account"]
            }
        )
        return TextTable.pairs([("Master key", "\(master.id), since \(master.since)")]) + "\n\n" + keys.text
    }

    static func rotated(_ report: KeysReport) -> String {
        let retiring = report.dataKeys.filter { $0.state == .retiring }.count
        return
            "\(retiring) data keys are retiring. Their values are encrypted again in the background; see 'starwatch status'."
    }

    static func verification(_ report: KeyVerification) -> String {
        guard report.failed > 0 else { return "All \(report.opened) encrypted values open." }
        let faults = TextTable(
            titles: ["COLUMN", "ROW"],
            rows: report.faults.map { [$0.column, $0.row] }
        )
        return """
            \(report.failed) of \(report.opened + report.failed) encrypted values do not open. They were changed or moved; \
            restore a backup.

            \(faults.text)
            """
    }
}
