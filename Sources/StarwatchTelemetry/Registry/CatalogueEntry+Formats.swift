import Foundation

/// The catalogue in the output formats of the command line.
extension [CatalogueEntry] {
    /// The cells of a table for a terminal.
    package var rows: [[String]] {
        map { entry in
            [
                entry.descriptor.name, entry.descriptor.kind.rawValue, entry.descriptor.stability.rawValue,
                entry.labels.map(\.name).joined(separator: ","), "\(entry.seriesCount)", entry.descriptor.help,
            ]
        }
    }

    /// The catalogue as a Markdown table. Line breaks and bars in cells are escaped.
    package var markdown: String {
        let head =
            "| name | type | unit | labels | series | stability | help |\n| --- | --- | --- | --- | --- | --- | --- |\n"
        return head
            + map { entry in
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
                return "| " + cells.map(Self.cell).joined(separator: " | ") + " |\n"
            }.joined()
    }

    /// The catalogue as a JSON array with one object per family, each on a line.
    package func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let lines = try map { String(decoding: try encoder.encode(JSONEntry($0)), as: UTF8.self) }
        return "[\n" + lines.joined(separator: ",\n") + "\n]\n"
    }

    private static func cell(_ text: String) -> String {
        String(text.flatMap { $0 == "|" ? "\\|" : $0 == "\n" ? " " : String($0) })
    }
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
