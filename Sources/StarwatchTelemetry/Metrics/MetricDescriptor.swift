/// The unit of a family. Only base units exist.
package enum MetricUnit: String, Sendable, CaseIterable {
    case none = ""
    case seconds
    case bytes
    case rows
    case ratio

    /// Whether the page can declare the unit: OpenMetrics requires the family's name to end in it.
    func isSuffix(of familyName: String) -> Bool { self != .none && familyName.hasSuffix("_" + rawValue) }
}

/// The kind of a family.
package enum MetricKind: String, Sendable, CaseIterable {
    case counter
    case gauge
    case histogram
    case info
}

/// The stability guarantee of a family.
package enum MetricStability: String, Sendable, CaseIterable {
    /// Part of the contract: never changes.
    case contract
    /// The name does not change.
    case stable
    /// A diagnostic that can change between versions.
    case detail
}

/// The name, kind, unit and help of a family of series. They are literals in the code, never derived from data.
package struct MetricDescriptor: Sendable, Hashable {
    /// The family's name in the text format: counters end in `_total`, infos in `_info`.
    package let name: String
    package let kind: MetricKind
    package let unit: MetricUnit
    package let help: String
    package let stability: MetricStability
    /// Whether samples can carry an exemplar; if not, exemplars are dropped.
    package let carriesExemplars: Bool

    /// The family's name in OpenMetrics, without `_total` and `_info`.
    package var openMetricsName: String { Self.openMetricsName(kind, name) }

    private static func openMetricsName(_ kind: MetricKind, _ name: String) -> String {
        switch kind {
        case .counter where name.hasSuffix("_total"): String(name.dropLast(6))
        case .info where name.hasSuffix("_info"): String(name.dropLast(5))
        default: name
        }
    }

    /// The names of the family's samples.
    var sampleNames: [String] {
        kind == .histogram ? [name + "_bucket", name + "_sum", name + "_count"] : [name]
    }
}

extension MetricDescriptor {
    /// The name of a counter must end in `_total`, that of an info in `_info`. The unit is the name's last word before that.
    package init(
        _ kind: MetricKind,
        _ name: StaticString,
        _ help: StaticString,
        stability: MetricStability = .stable,
        carriesExemplars: Bool = false
    ) {
        let plain = Self.openMetricsName(kind, "\(name)")
        self.init(
            name: "\(name)",
            kind: kind,
            unit: MetricUnit.allCases.first { $0.isSuffix(of: plain) } ?? .none,
            help: "\(help)",
            stability: stability,
            carriesExemplars: carriesExemplars
        )
    }
}

/// The names that no two families may have.
extension MetricDescriptor {
    /// The conflicts with other families: names or samples that both claim.
    func clashes(with others: [MetricDescriptor]) -> [String] {
        var claimed: [String: String] = [:]
        for other in others { _ = other.claim(in: &claimed) }
        return claim(in: &claimed)
    }

    /// Claims the family's names.
    ///
    /// - Parameter claimed: The claimed names, each with its family.
    /// - Returns: The conflicts with earlier claims, sorted.
    func claim(in claimed: inout [String: String]) -> [String] {
        var clashes: Set<String> = []
        for claim in claims {
            if let other = claimed.updateValue(name, forKey: claim) { clashes.insert("\(name) clashes with \(other)") }
        }
        return clashes.sorted()
    }

    /// All names that a reader can attribute to the family, including `_created`.
    private var claims: Set<String> {
        let created = kind == .counter || kind == .histogram ? [openMetricsName + "_created"] : []
        return Set(sampleNames + [name, openMetricsName] + created)
    }
}
