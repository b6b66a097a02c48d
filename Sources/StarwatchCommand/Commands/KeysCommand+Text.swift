import Starwatch
import StarwatchCore

/// The keys of the database as text for a person.
extension KeysCommand {
    static func list(_ report: KeysReport) -> String {
        guard let master = report.masterKey else { return "The database is not encrypted." }
        let keys = TextTable(
            titles: ["DATA KEY", "STATE", "CREATED", "USES UP TO", "OF"],
            rows: report.dataKeys.map { key in
                ["\(key.id)", key.state.rawValue, key.createdAt, "\(key.uses)", key.account ?? "no account"]
            }
        )
        let text = TextTable.pairs([("Master key", "\(master.id), since \(master.since)")]) + "\n\n" + keys.text
        guard !report.signingKeys.isEmpty else { return text }
        let signing = TextTable(
            titles: ["SIGNING KEY", "STATE", "ALGORITHM", "CREATED", "ENDS", "OF"],
            rows: report.signingKeys.map { key in
                [key.kid, key.state.rawValue, key.algorithm.rawValue, key.createdAt, key.endsAt ?? "", key.account]
            }
        )
        return text + "\n\n" + signing.text
    }

    static func rotated(_ report: KeysReport) -> String {
        let retiring = report.dataKeys.filter { $0.state == .retiring }.count
        return
            "\(retiring) data keys are retiring. Their values are encrypted again in the background; see 'starwatch status'."
    }

    static func imported(_ report: SigningKeyReport, from file: String) -> String {
        let use =
            report.used
            ? "Tokens are signed with it from now on."
            : "Tokens are signed with it when auth.stored_keys is true and the setting of the file is removed."
        return """
            The signing key \(report.key.kid) is stored. \(use)
            \(file) can now be destroyed, for example with shred -u.
            """
    }

    static func rotatedSigning(_ report: SigningKeyReport, file: String, isEmergency: Bool) -> String {
        let former =
            isEmergency
            ? "Polls fail until the server knows the new secret. The former one signs nothing more."
            : "Until the server knows it, tokens are signed with the former one, for 7 days at most."
        return """
            The signing key is now \(report.key.kid). Its secret is the text in \(file), without the end of the line.
            1. Give it to the server's operator, on a safe way, to be added under the name \(report.key.kid).
            2. \(isEmergency ? "Let them remove the former secret within 1 hour." : "Let them remove the former secret after 7 days.")
            3. Destroy \(file), for example with shred -u.
            \(former)
            """
    }

    static func verification(_ report: KeyVerification) -> String {
        guard report.failed > 0 else { return "All \(report.opened) encrypted values open." }
        let faults = TextTable(titles: ["COLUMN", "ROW"], rows: report.faults.map { [$0.column, $0.row] })
        return """
            \(report.failed) of \(report.opened + report.failed) encrypted values do not open. They were changed or moved; \
            restore a backup.

            \(faults.text)
            """
    }
}
