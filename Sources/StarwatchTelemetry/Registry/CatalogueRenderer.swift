import Foundation

/// The catalogue in the output formats of the command line.
package enum CatalogueRenderer {
    /// The catalogue as padded columns, for a terminal.
    package static func text(_ entries: [CatalogueEntry]) -> String {
        let rows = entries.map { entry in
            [
                entry.descriptor.name, entry.descriptor.kind.rawValue, entry.descriptor.stability.rawValue,
                entry.labels.map(\.name).joined(separator: ","), "\(entry.seriesCount)", entry.descriptor.help,
            ]
        }
        let table = [["NAME", "TYPE", "STABILITY", "LABELS", "SERIES", "HELP"]] + rows
        let widths = (0..<5).map { column in table.map { $0[column].count }.max() ?? 0 }
        return table.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            return (cells + [row[5]]).joined(separator: "  ") + "\n"
        }.joined()
    }

    /// The catalogue as a Markdown table. Line breaks and bars in cells are escaped.
    package static func markdown(_ entries: [CatalogueEntry]) -> String {
        let head =
            "| name | type | unit | labels | series | stability | help |\n| --- | --- | --- | --- | --- | --- | --- |\n"
        return head
            + entries.map { entry in
                let labels = entry.labels.map {
                    $0.values.isEmpty ? $0.name : "\($0.name) = \($0.values.joined(separator: ", "))"
                }
                var kind = entry.descriptor.kind.rawValue
                if entry.descriptor.carriesExemplars { kind += " (exemplars)" }
                let cells = [
                    "`\(entry.descriptor.name)`", kind, entry.descriptor.unit.rawValue,
                    labels.joined(separator: "; "), "\(entry.seriesCount)", entry.descriptor.stability.rawValue,
                    entry.descriptor.help,
                ]
                return "| " + cells.map(cell).joined(separator: " | ") + " |\n"
            }.joined()
    }

    /// The catalogue as a JSON array with one object per family, each on a line.
    package static func json(_ entries: [CatalogueEntry]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let lines = try entries.map { String(decoding: try encoder.encode(JSONEntry($0)), as: UTF8.self) }
        return "[\n" + lines.joined(separator: ",\n") + "\n]\n"
    }

    private struct JSONEntry: Encodable {
        let name, type, unit, help, stability: String
        let labels: [CatalogueLabel]
        let series: Int
        let exemplars: Bool
        let buckets: [Double]?

        init(_ entry: CatalogueEntry) {
            let descriptor = entry.descriptor
            (name, help, exemplars) = (descriptor.name, descriptor.help, descriptor.carriesExemplars)
            (type, unit) = (descriptor.kind.rawValue, descriptor.unit.rawValue)
            (stability, series) = (descriptor.stability.rawValue, entry.seriesCount)
            labels = entry.labels
            buckets = entry.bounds.isEmpty ? nil : entry.bounds
        }
    }

    private static func cell(_ text: String) -> String {
        String(text.flatMap { $0 == "|" ? "\\|" : $0 == "\n" ? " " : String($0) })
    }
}
