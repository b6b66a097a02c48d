import Starwatch
import StarwatchCore

/// An incident and the journal for a person.
extension IncidentCommand {
    static func page(_ report: IncidentReport) -> String {
        [TextTable.pairs(head(report)), entries(report)].joined(separator: "\n\n")
    }

    private static func head(_ report: IncidentReport) -> [(String, String)] {
        var pairs = [
            ("Agent", "starwatch \(report.version), \(state(report))"),
            ("Time", "\(day(report.since)) \(clock(report.since)) to \(day(report.until)) \(clock(report.until)) UTC"),
            ("Ends", ends(report)),
            ("Problems", problems(report)),
        ]
        pairs += sources(report).map { ("Note", $0) }
        return pairs
    }

    private static func state(_ report: IncidentReport) -> String {
        guard report.running else { return "not running" }
        guard let sign = report.lastSign else { return "running" }
        let silence = report.answers == false ? "it does not answer" : "it seems to be stopped"
        return "running, but \(silence); last sign of life \(clock(sign))"
    }

    private static func ends(_ report: IncidentReport) -> String {
        let unasked = report.restarts.filter { !$0.askedFor }
        guard let last = unasked.last else { return "none that nobody asked for" }
        let causes = Dictionary(grouping: unasked, by: \.cause).sorted { $0.key < $1.key }
        let list = causes.map { "\($0.key) \($0.value.count)" }.joined(separator: ", ")
        return "\(unasked.count) that nobody asked for (\(list)); the last \(time(last)): it \(last.phrase)"
    }

    private static func time(_ end: IncidentReport.Restart) -> String {
        guard let after = end.after else { return clock(end.at) }
        guard let before = end.before else { return "after \(clock(after))" }
        return "between \(clock(after)) and \(clock(before))"
    }

    private static func problems(_ report: IncidentReport) -> String {
        guard !report.problems.isEmpty else { return report.running ? "none" : "none at the end" }
        return report.problems
            .map { "\($0.problem)\($0.subject.map { ":\($0)" } ?? "") since \(clock($0.since))" }
            .joined(separator: ", ")
    }

    /// Sentences about what could not be read.
    private static func sources(_ report: IncidentReport) -> [String] {
        report.sources.compactMap { source in
            switch (source.name, source.read) {
            case (.blackBox, false): "There is no black box: \(source.problem ?? "")"
            case (.blackBox, true): source.problem.map { "Black box: \($0)" }
            case (.database, false):
                "This is the black box alone, without journal and stored log: \(source.problem ?? "")"
            case (.database, true): source.problem
            }
        }
    }

    private static func entries(_ report: IncidentReport) -> String {
        guard !report.entries.isEmpty else { return "Nothing is recorded in this time." }
        var lines: [String] = []
        var day = ""
        for entry in report.entries {
            if self.day(entry.at) != day {
                day = self.day(entry.at)
                lines.append(day)
            }
            let level = (entry.level ?? "-").padding(to: 5)
            let line = "\(clock(entry.at))  \(level)  \(entry.event.padding(to: 22))  \(entry.text)"
            lines.append(TerminalText.printable(line))
        }
        return lines.joined(separator: "\n")
    }

    private static func day(_ time: String) -> String { String(time.prefix(10)) }
    private static func clock(_ time: String) -> String { String(time.dropFirst(11).prefix(8)) }

    static func journal(_ listing: JournalListing) -> String {
        guard !listing.entries.isEmpty else { return "No entries." }
        return TextTable(
            titles: ["TIME", "WHO", "WHAT", "TARGET", "RESULT", "DETAIL"],
            rows: listing.entries.map {
                [$0.at, $0.actor, $0.verb ?? $0.kind.rawValue, $0.target ?? "-", $0.result, $0.detail ?? "-"]
            }
        ).text
    }
}

extension String {
    fileprivate func padding(to width: Int) -> String {
        self + String(repeating: " ", count: Swift.max(0, width - count))
    }
}
