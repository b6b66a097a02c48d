import Logging

/// Catalogue of log events, for docs/logs.md.
package enum EventCatalogue {
    /// Returns a table of events and a table of fields, in Markdown.
    package static func markdown() -> String {
        let events = AgentEvent.allCases.map { event in
            let fields = event.fields.map { "`\($0.rawValue)`" } + event.optionalFields.map { "[`\($0.rawValue)`]" }
            return [
                "`\(event.rawValue)`", event.level.rawValue, fields.joined(separator: " "),
                event.meaning + (event.mayFold ? "" : " Never folded."),
            ]
        }
        let fields = LogField.allCases.map { ["`\($0.rawValue)`", $0.kind.rawValue, $0.meaning] }
        return table(["event", "level", "fields", "meaning and advice"], events) + "\n"
            + table(["field", "kind", "meaning"], fields)
    }

    private static func table(_ head: [String], _ rows: [[String]]) -> String {
        ([head, head.map { _ in "---" }] + rows).map { "| " + $0.joined(separator: " | ") + " |\n" }.joined()
    }
}
