/// Families that read their values from other handles when the page is rendered.
extension MetricRegistry {
    /// Registers a counter or a gauge with a computed value. `nil` omits it from the page; a counter must never decrease.
    package func view(
        _ kind: MetricKind,
        _ name: StaticString,
        _ help: StaticString,
        stability: MetricStability = .stable,
        computed: @escaping @Sendable () -> Double?
    ) {
        precondition(kind == .counter || kind == .gauge, "\(name) is neither a counter nor a gauge.")
        let descriptor = MetricDescriptor(kind, name, help, stability: stability)
        let series = ComputedSeries(name: descriptor.name, compute: computed)
        register(MetricFamily(descriptor: descriptor, series: [series]))
    }

    /// Registers a histogram that shows the sum of others, including their exemplars.
    ///
    /// - Parameters:
    ///   - histograms: The histograms to show, with equal bounds. Without any, such as when no such poll is configured, it
    ///     stays at zero.
    ///   - bounds: Some or all of the histograms' bounds, because a view can only be coarser. Any other bound traps.
    package func histogramView(
        _ name: StaticString,
        _ help: StaticString,
        stability: MetricStability = .stable,
        sumOf histograms: [Histogram],
        bounds: [Double]
    ) {
        let descriptor = MetricDescriptor(.histogram, name, help, stability: stability)
        precondition(
            histograms.allSatisfy { Set($0.bounds).isSuperset(of: bounds) && $0.bounds == histograms[0].bounds },
            "\(descriptor.name) has a bound that its histogram lacks."
        )
        let shown = histograms.first ?? Histogram(bounds: bounds)
        let buckets = HistogramSeries.labels(shown.bounds, shown: bounds)
        let others = Array(histograms.dropFirst())
        let series = HistogramSeries(
            name: descriptor.name,
            labels: [],
            histogram: shown,
            others: others,
            buckets: buckets
        )
        register(MetricFamily(descriptor: descriptor, bounds: bounds, series: [series]))
    }

    /// Registers a constant 1 with labels that describe the program, each by ``CatalogueLabel/info(_:_:)``.
    package func info(_ name: StaticString, _ help: StaticString, _ labels: [CatalogueLabel]) {
        let descriptor = MetricDescriptor(.info, name, help)
        let series = ComputedSeries(name: descriptor.name, labels: labels.map { ($0.name, $0.values[0]) }) { 1 }
        register(MetricFamily(descriptor: descriptor, labels: labels, series: [series]))
    }

    /// Registers a family of series that come and go. The labels of two rows must differ.
    ///
    /// - Parameters:
    ///   - labels: The labels, each with its possible values; no values for what the catalogue cannot list.
    ///   - largest: The largest number of rows.
    package func table(
        _ descriptor: MetricDescriptor,
        labels: [CatalogueLabel],
        largest: Int,
        rows: @escaping @Sendable () -> [MetricTable.Row]
    ) {
        precondition(
            descriptor.kind == .info || descriptor.kind == .gauge,
            "\(descriptor.name) counts, so it cannot come and go."
        )
        let table = MetricTable(largest: largest, rows: rows)
        register(MetricFamily(descriptor: descriptor, labels: labels, table: table))
    }
}

extension CatalogueLabel {
    /// A label of an info, such as the version. Its value is known at build time.
    ///
    /// - Parameter value: 1 to 64 letters, digits and `._+-`; any other value becomes `unknown`.
    package static func info(_ name: StaticString, _ value: String) -> Self {
        let marks = Set("._+-".utf8)
        let isPlain = value.utf8.allSatisfy { $0.isLetter || $0.isDigit || marks.contains($0) }
        let isShown = isPlain && (1...64).contains(value.utf8.count)
        return CatalogueLabel(name: "\(name)", values: [isShown ? value : "unknown"])
    }
}
