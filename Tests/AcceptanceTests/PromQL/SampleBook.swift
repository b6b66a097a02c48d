import StarwatchTelemetry

/// Series that Prometheus has of an agent: the catalogue, the recording rules, `up` and `ALERTS`.
struct SampleBook {
    enum Kind {
        case counter
        case gauge
        case bucket
    }

    struct Entry {
        let kind: Kind
        /// The family of the catalogue; `nil` for what Prometheus makes itself.
        let family: String?
        /// Label names to the values they may have; empty: any.
        let labels: [String: [String]]
    }

    /// Prometheus puts these on whatever it scrapes.
    private static let target: [String: [String]] = ["job": [], "instance": [], "cluster": []]

    private static let alert = ["alertname": [], "severity": [], "alertstate": ["pending", "firing"]]

    private var scraped: [String: Entry] = [
        "up": Entry(kind: .gauge, family: nil, labels: target),
        "ALERTS": Entry(kind: .gauge, family: nil, labels: target.merging(alert) { first, _ in first }),
    ]
    private let recordings: [String: PromQL]

    init(catalogue: [CatalogueEntry], recordings: [String: PromQL] = [:]) {
        self.recordings = recordings
        for entry in catalogue {
            let (name, kind) = (entry.descriptor.name, entry.descriptor.kind)
            var labels = Self.target
            for label in entry.labels { labels[label.name] = kind == .info ? [] : label.values }
            func add(_ suffix: String, _ kind: Kind) {
                scraped[name + suffix] = Entry(kind: kind, family: name, labels: labels)
            }
            switch kind {
            case .counter: add("", .counter)
            case .gauge, .info: add("", .gauge)
            case .histogram:
                add("_sum", .counter)
                add("_count", .counter)
                labels["le"] = []
                add("_bucket", .bucket)
            }
        }
    }

    func entry(_ name: String) -> Entry? { scraped[name] }
    func recording(_ name: String) -> PromQL? { recordings[name] }
    var names: some Sequence<String> { scraped.keys }

    /// The families of the catalogue that an expression reads, by itself or through recording rules.
    func families(read expression: PromQL) -> Set<String> {
        var found: Set<String> = []
        var seen: Set<String> = []
        var left = expression.selectors.map(\.name)
        while let name = left.popLast() {
            guard seen.insert(name).inserted else { continue }
            if let family = scraped[name]?.family { found.insert(family) }
            left += recordings[name]?.selectors.map(\.name) ?? []
        }
        return found
    }
}
