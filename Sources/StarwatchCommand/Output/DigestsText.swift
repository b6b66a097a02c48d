import Starwatch

/// Digests for a person.
enum DigestsText {
    static func lines(_ digests: [DigestReport]) -> String {
        guard !digests.isEmpty else { return "No digests are configured." }
        let titles = ["DIGEST", "TIME", "STATUS", "TEXT", "FETCH", "WHY"]
        let rows = digests.flatMap { digest in
            digest.occurrences.map { occurrence in
                [
                    occurrence.slot, occurrence.fireAt, occurrence.status, occurrence.text ?? "-", occurrence.fetch,
                    occurrence.errorCode ?? "-",
                ]
            }
        }
        let contents = digests.map { digest in
            ("\(digest.name)", "\(digest.mode), \(digest.timezone), content of \(digest.contentAt ?? "never")")
        }
        return TextTable.pairs(contents) + "\n\n" + TextTable(titles: titles, rows: rows).text
    }

    /// `daily: fetched, content of 2026-01-01T06:55:00.412Z`.
    static func line(_ report: DigestFetchReport) -> String {
        TerminalText.printable(
            "\(report.digest): \(report.outcome.rawValue), content of \(report.contentAt ?? "never")"
        )
    }

    /// `daily: delivered as ntf_…, content of 2026-01-01T06:55:00.412Z`.
    static func line(_ report: DigestShowReport) -> String {
        TerminalText.printable(
            "\(report.digest): \(report.state) as \(report.notificationID), "
                + (report.contentAt.map { "content of \($0)" } ?? report.text)
        )
    }
}
