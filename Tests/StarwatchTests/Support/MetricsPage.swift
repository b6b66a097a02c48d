import StarwatchTelemetry

/// A page in the text format, taken apart.
struct MetricsPage {
    struct Series: Hashable {
        let name: String
        let labels: [String: String]
    }

    private(set) var values: [Series: Double] = [:]
    /// Family to type.
    private(set) var types: [String: String] = [:]
    /// In the order of the page.
    private(set) var families: [String] = []

    init(_ bytes: [UInt8]) {
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix("# TYPE ") {
                let words = line.split(separator: " ")
                types[String(words[2])] = String(words[3])
                families.append(String(words[2]))
            }
            guard !line.hasPrefix("#"), let space = line.lastIndex(of: " "),
                let value = Self.number(String(line[line.index(after: space)...]))
            else { continue }
            values[Self.series(String(line[..<space]))] = value
        }
    }

    /// The value of a series; `nil` when it is not on the page.
    subscript(_ name: String, _ labels: [String: String]) -> Double? { values[Series(name: name, labels: labels)] }

    /// As the subscript with labels, for a series without.
    subscript(_ name: String) -> Double? { self[name, [:]] }

    /// The series of a family, of a histogram its buckets, sum and count too.
    func series(of family: String) -> [Series] {
        let names =
            types[family] == "histogram" ? ["\(family)_bucket", "\(family)_sum", "\(family)_count"] : [family]
        return values.keys.filter { names.contains($0.name) }
    }

    private static func number(_ text: String) -> Double? {
        switch text {
        case "+Inf": .infinity
        case "-Inf": -.infinity
        case "NaN": .nan
        default: Double(text)
        }
    }

    /// No label value of ours holds a comma or a quotation mark.
    private static func series(_ text: String) -> Series {
        guard let brace = text.firstIndex(of: "{") else { return Series(name: text, labels: [:]) }
        var labels: [String: String] = [:]
        for pair in text[text.index(after: brace)...].dropLast().split(separator: ",") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            labels[String(parts[0])] = String(parts[1].dropFirst().dropLast())
        }
        return Series(name: String(text[..<brace]), labels: labels)
    }
}
