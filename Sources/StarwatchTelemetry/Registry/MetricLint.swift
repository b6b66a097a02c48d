/// The rules a family must keep to be registered, after promlint and the OpenMetrics specification.
package enum MetricLint {
    private static let reservedSuffixes = ["_total", "_sum", "_count", "_bucket", "_created", "_info"]
    private static let kindWords: Set<String> = ["counter", "gauge", "histogram", "summary", "metric"]
    private static let abbreviations: Set<String> = [
        "s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "pb", "m", "h", "d",
    ]
    private static let otherUnits: Set<String> = [
        "milliseconds", "microseconds", "nanoseconds", "minutes", "hours", "days", "weeks", "kilobytes", "megabytes",
        "gigabytes", "kibibytes", "mebibytes", "gibibytes", "bits", "percent",
    ]
    /// Names that service discovery or Prometheus itself puts on every series.
    private static let targetLabels: Set<String> = [
        "le", "quantile", "job", "instance", "type", "region", "zone", "cluster", "env", "service", "stage", "team",
    ]

    /// What is wrong with a family by itself; empty if nothing is.
    package static func problems(of descriptor: MetricDescriptor, labels: [String] = []) -> [String] {
        let name = descriptor.name
        return nameProblems(of: name) + suffixProblems(of: descriptor) + unitProblems(of: descriptor)
            + helpProblems(of: descriptor.help).map { "\(name): \($0)" }
            + labels.flatMap(labelProblems(of:)).map { "\(name): \($0)" }
            + (Set(labels).count == labels.count ? [] : ["\(name): a label stands twice"])
            + exemplarProblems(of: descriptor)
    }

    /// What is wrong with families beside each other: names or samples that two of them claim.
    package static func clashes(of descriptor: MetricDescriptor, with others: [MetricDescriptor]) -> [String] {
        var claimed: [String: String] = [:]
        for other in others { _ = claim(other, in: &claimed) }
        return claim(descriptor, in: &claimed)
    }

    /// Takes the family's names for it.
    ///
    /// - Parameter claimed: The family that has each name so far.
    /// - Returns: Which names were taken, in order.
    static func claim(_ descriptor: MetricDescriptor, in claimed: inout [String: String]) -> [String] {
        var clashes: Set<String> = []
        for name in claims(of: descriptor) {
            if let other = claimed.updateValue(descriptor.name, forKey: name) {
                clashes.insert("\(descriptor.name) clashes with \(other)")
            }
        }
        return clashes.sorted()
    }

    /// Everything a reader may take for a part of the family, `_created` included.
    private static func claims(of descriptor: MetricDescriptor) -> Set<String> {
        var names = Set(descriptor.sampleNames + [descriptor.name, descriptor.openMetricsName])
        if descriptor.kind == .counter || descriptor.kind == .histogram {
            names.insert(descriptor.openMetricsName + "_created")
        }
        return names
    }

    private static func nameProblems(of name: String) -> [String] {
        var problems: [String] = []
        if !isWord(name) { problems.append("\(name): must be lower-case words joined by _") }
        let words = name.split(separator: "_").map(String.init)
        if words.count < 2 { problems.append("\(name): needs a prefix") }
        for word in words where kindWords.contains(word) {
            problems.append("\(name): says its kind, \(word)")
        }
        for word in words where otherUnits.contains(word) {
            problems.append("\(name): \(word) is not a base unit")
        }
        if let last = words.last(where: { $0 != "total" }), abbreviations.contains(last) {
            problems.append("\(name): abbreviates its unit, \(last)")
        }
        return problems
    }

    private static func isWord(_ name: String) -> Bool {
        guard let first = name.utf8.first, first.isLowercaseLetter, !name.contains("__"), !name.hasSuffix("_") else {
            return false
        }
        return name.utf8.allSatisfy { $0.isLowercaseLetter || $0.isDigit || $0 == 0x5F }
    }

    private static func suffixProblems(of descriptor: MetricDescriptor) -> [String] {
        let allowed =
            switch descriptor.kind {
            case .counter: "_total"
            case .info: "_info"
            case .gauge, .histogram: ""
            }
        var problems: [String] = []
        if !descriptor.name.hasSuffix(allowed) {
            problems.append("\(descriptor.name): a \(descriptor.kind.rawValue) must end in \(allowed)")
        }
        for suffix in reservedSuffixes where suffix != allowed && descriptor.openMetricsName.hasSuffix(suffix) {
            problems.append("\(descriptor.name): a \(descriptor.kind.rawValue) must not have \(suffix)")
        }
        return problems
    }

    private static func unitProblems(of descriptor: MetricDescriptor) -> [String] {
        for unit in [MetricUnit.seconds, .bytes, .ratio] where descriptor.unit != unit {
            if unit.isSuffix(of: descriptor.openMetricsName) {
                return ["\(descriptor.name): ends in \(unit.rawValue) but its unit is another"]
            }
        }
        if descriptor.kind == .info, descriptor.unit != .none { return ["\(descriptor.name): an info has no unit"] }
        return []
    }

    private static func helpProblems(of help: String) -> [String] {
        if help.isEmpty { return ["has no help"] }
        if help.contains("\n") { return ["has a line break in its help"] }
        return []
    }

    private static func labelProblems(of label: String) -> [String] {
        if !isWord(label) { return ["label \(label) must be lower-case words joined by _"] }
        if targetLabels.contains(label) { return ["label \(label) collides with a target's label"] }
        return []
    }

    private static func exemplarProblems(of descriptor: MetricDescriptor) -> [String] {
        guard descriptor.carriesExemplars, descriptor.kind == .gauge || descriptor.kind == .info else { return [] }
        return ["\(descriptor.name): only counters and histograms carry exemplars"]
    }
}
