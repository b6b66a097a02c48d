import Foundation

/// What a runbook tells an operator to type.
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

    /// What it greps the log for.
    var loggedTexts: [String] {
        text.matches(of: /journalctl [^|\n]*\| grep ([^|\n]+)/).map {
            $0.1.trimmingCharacters(in: .whitespaces.union(CharacterSet(charactersIn: "'")))
        }
    }

    /// What it greps the page of metrics for: `^(a|b)` or `^a`, each a name or its beginning.
    var grepped: [String] {
        text.matches(of: /grep (?:-E )?'\^\(?([^')]+)\)?'/).flatMap { match in
            match.1.split(separator: "|").map(String.init)
        }
    }
}
