import Foundation

/// Commands and queries in a runbook.
struct Runbook {
    let name: String
    private let text: String

    static func all() throws -> [Runbook] {
        try Repository.files(in: "alerts/runbooks", ending: "md").map {
            Runbook(
                name: $0.deletingPathExtension().lastPathComponent,
                text: try String(contentsOf: $0, encoding: .utf8)
            )
        }
    }

    /// The lines of the code block under "In Prometheus:", a query each.
    var queries: [PlacedQuery] {
        let parts = text.components(separatedBy: "In Prometheus:\n\n```\n").dropFirst()
        return parts.flatMap { part in
            part.components(separatedBy: "```").first!.split(separator: "\n").map {
                PlacedQuery(place: "runbook \(name)", expression: String($0))
            }
        }
    }

    /// Texts that it searches in the log.
    var loggedTexts: [String] {
        text.matches(of: /journalctl [^|\n]*\| grep ([^|\n]+)/).map {
            $0.1.trimmingCharacters(in: .whitespaces.union(CharacterSet(charactersIn: "'")))
        }
    }

    /// Metric names or prefixes that it searches: `^(a|b)` or `^a`.
    var grepped: [String] {
        text.matches(of: /grep (?:-E )?'\^\(?([^')]+)\)?'/).flatMap { match in
            match.1.split(separator: "|").map(String.init)
        }
    }
}
