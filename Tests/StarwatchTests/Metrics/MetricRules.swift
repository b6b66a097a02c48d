@testable import StarwatchTelemetry

/// The naming rules for families, based on promlint and the OpenMetrics specification.
enum MetricRules {
    private static let reservedSuffixes = ["_total", "_sum", "_count", "_bucket", "_created", "_info"]
    private static let kindWords: Set<String> = ["counter", "gauge", "histogram", "summary", "metric"]
    private static let abbreviations: Set<String> = [
        "s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "pb", "m", "h", "d",
    ]
    private static let otherUnits: Set<String> = [
        "milliseconds", "microseconds", "nanoseconds", "minutes", "hours", "days", "weeks", "kilobytes", "megabytes",
        "gigabytes", "kibibytes", "mebibytes", "gibibytes", "bits", "percent",
    ]
    /// Labels that service discovery or Prometheus adds to every series.
    private static let targetLabels: Set<String> = [
        "le", "quantile", "job", "instance", "type", "region", "zone", "cluster", "env", "service", "stage", "team",
    ]

    /// The problems of one family; empty if there are none.
    static func problems(of descriptor: MetricDescriptor, labels: [String] = []) -> [String] {
        let name = descriptor.name
        return nameProblems(of: name) + suffixProblems(of: descriptor) + unitProblems(of: descriptor)
            + helpProblems(of: descriptor.help).map { "\(name): \($0)" }
            + labels.flatMap(labelProblems(of:)).map { "\(name): \($0)" }
            + (Set(labels).count == labels.count ? [] : ["\(name): duplicate label"])
            + exemplarProblems(of: descriptor)
    }

    private static func nameProblems(of name: String) -> [String] {
        var problems: [String] = []
        if !isWord(name) { problems.append("\(name): must be lower-case words joined by _") }
        let words = name.split(separator: "_").map(String.init)
        if words.count < 2 { problems.append("\(name): needs a prefix") }
        for word in words where kindWords.contains(word) {
            problems.append("\(name): contains its kind, \(word)")
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
            problems.append("\(descriptor.name): a \(descriptor.kind.rawValue) must not end in \(suffix)")
        }
        return problems
    }

    private static func unitProblems(of descriptor: MetricDescriptor) -> [String] {
        for unit in [MetricUnit.seconds, .bytes, .ratio] where descriptor.unit != unit {
            if unit.isSuffix(of: descriptor.openMetricsName) {
                return ["\(descriptor.name): ends in \(unit.rawValue) but has another unit"]
            }
        }
        if descriptor.kind == .info, descriptor.unit != .none { return ["\(descriptor.name): an info has no unit"] }
        return []
    }

    private static func helpProblems(of help: String) -> [String] {
        if help.isEmpty { return ["the help is empty"] }
        if help.contains("\n") { return ["the help contains a line break"] }
        return []
    }

    private static func labelProblems(of label: String) -> [String] {
        if !isWord(label) { return ["label \(label) must be lower-case words joined by _"] }
        if targetLabels.contains(label) { return ["label \(label) conflicts with a target label of Prometheus"] }
        return []
    }

    private static func exemplarProblems(of descriptor: MetricDescriptor) -> [String] {
        guard descriptor.carriesExemplars, descriptor.kind == .gauge || descriptor.kind == .info else { return [] }
        return ["\(descriptor.name): only counters and histograms carry exemplars"]
    }
}
