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

    /// The catalogue as a JSON array with one object per family.
    package static func json(_ entries: [CatalogueEntry]) -> String {
        var bytes: [UInt8] = []
        bytes.append(UInt8(ascii: "["))
        for (index, entry) in entries.enumerated() {
            bytes.append(text: index > 0 ? ",\n" : "\n")
            bytes.append(json: value(of: entry))
        }
        bytes.append(text: "\n]\n")
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func value(of entry: CatalogueEntry) -> LogValue {
        let labels = entry.labels.map { label in
            LogValue.object([("name", .string(label.name)), ("values", .array(label.values.map(LogValue.string)))])
        }
        var fields: [(String, LogValue)] = [
            ("name", .string(entry.descriptor.name)),
            ("type", .string(entry.descriptor.kind.rawValue)),
            ("unit", .string(entry.descriptor.unit.rawValue)),
            ("help", .string(entry.descriptor.help)),
            ("labels", .array(labels)),
            ("series", .integer(Int64(entry.seriesCount))),
            ("stability", .string(entry.descriptor.stability.rawValue)),
            ("exemplars", .bool(entry.descriptor.carriesExemplars)),
        ]
        if !entry.bounds.isEmpty { fields.append(("buckets", .array(entry.bounds.map(LogValue.double)))) }
        return .object(fields)
    }

    private static func cell(_ text: String) -> String {
        String(text.flatMap { $0 == "|" ? "\\|" : $0 == "\n" ? " " : String($0) })
    }
}
