import Synchronization

/// All metrics of the program. The components register their families at start.
///
/// Registration traps if a family conflicts with another: names are literals in the code, so that is a programming error.
/// All series exist, at zero, from registration on, except those that are hidden until they count.
package final class MetricRegistry: Sendable {
    /// The registry of the metrics that are declared as properties with their descriptor. The default is on no page.
    @TaskLocal package static var current = MetricRegistry()

    private struct State {
        /// Families in the order of the page.
        var families: [MetricFamily] = []
        /// Claimed names, each with its family.
        var claims: [String: String] = [:]
        var seriesCount = 0
        var collectors: [@Sendable () async -> Void] = []
        /// The handles by which the program sets or counts, without views.
        var handles: [(name: String, labels: Labels, handle: any MetricHandle)] = []
    }

    private let state = Mutex(State())
    private let dependencies: MetricsBridge?

    /// - Parameter dependencies: Metrics of dependencies, shown on the same page; `nil` for none.
    package init(dependencies: MetricsBridge? = nil) {
        self.dependencies = dependencies
        guard let dependencies else { return }
        let overflow = MetricDescriptor(
            .counter,
            "starwatch_metrics_series_overflow_total",
            "Metrics of dependencies dropped because they exceeded the budget or their name is taken."
        )
        let series = CounterSeries(name: overflow.name, labels: [], counter: dependencies.overflow)
        register(MetricFamily(descriptor: overflow, series: [series]))
    }

    // MARK: - Handles

    /// Registers a counter without labels.
    package func counter(
        _ name: StaticString,
        _ help: StaticString,
        stability: MetricStability = .stable,
        carriesExemplars: Bool = false
    ) -> Counter {
        counters(name, help, stability: stability, carriesExemplars: carriesExemplars).alone
    }

    /// Registers a counter for each value of a label, or of two.
    package func counters(
        _ name: StaticString,
        _ help: StaticString,
        stability: MetricStability = .stable,
        carriesExemplars: Bool = false
    ) -> SplitFamily<Counter> {
        split(.init(.counter, name, help, stability: stability, carriesExemplars: carriesExemplars), Self.counterSeries)
    }

    /// Registers a gauge without labels.
    package func gauge(_ name: StaticString, _ help: StaticString, stability: MetricStability = .stable) -> Gauge {
        gauges(name, help, stability: stability).alone
    }

    /// Registers a gauge for each value of a label.
    package func gauges(
        _ name: StaticString,
        _ help: StaticString,
        stability: MetricStability = .stable
    ) -> SplitFamily<Gauge> {
        split(.init(.gauge, name, help, stability: stability), Self.gaugeSeries)
    }

    /// Registers a histogram without labels.
    package func histogram(
        _ name: StaticString,
        _ help: StaticString,
        stability: MetricStability = .stable,
        carriesExemplars: Bool = false,
        bounds: [Double]
    ) -> Histogram {
        histograms(name, help, stability: stability, carriesExemplars: carriesExemplars, bounds: bounds).alone
    }

    /// Registers a histogram for each value of a label.
    package func histograms(
        _ name: StaticString,
        _ help: StaticString,
        stability: MetricStability = .stable,
        carriesExemplars: Bool = false,
        bounds: [Double]
    ) -> SplitFamily<Histogram> {
        let descriptor = MetricDescriptor(
            .histogram,
            name,
            help,
            stability: stability,
            carriesExemplars: carriesExemplars
        )
        return split(descriptor, bounds: bounds, Self.histogramSeries(bounds))
    }

    // MARK: - Collecting and rendering

    /// Adds work to do before each page, such as setting gauges from the store. A collector handles its own failures.
    package func collect(_ collector: @escaping @Sendable () async -> Void) {
        state.withLock { $0.collectors.append(collector) }
    }

    /// Runs the collectors one after the other, then renders the page.
    ///
    /// - Parameters:
    ///   - format: The result of ``ContentNegotiation/choose(accept:)``.
    ///   - names: The `name[]` parameters, which select families by their name or a sample's name. Empty selects all.
    package func render(_ format: ExpositionFormat, names: [String] = []) async -> [UInt8] {
        for collector in state.withLock({ $0.collectors }) { await collector() }
        return page(format, names: names)
    }

    /// Renders the page without running the collectors.
    package func page(_ format: ExpositionFormat, names: [String] = []) -> [UInt8] {
        let filter = Set(names)
        var page: [UInt8] = []
        for family in families where filter.isEmpty || family.matches(anyOf: filter) {
            family.write(to: &page, format: format)
        }
        if format == .openMetrics { page.append(text: "# EOF\n") }
        return page
    }

    /// The program's families and those of dependencies, in the order of the page.
    private var families: [MetricFamily] {
        var families = state.withLock { $0.families }
        for family in dependencies?.families ?? [] { MetricFamily.insert(family, into: &families) }
        return families
    }

    /// Number of series on the page, without those of dependencies. It depends on the configuration, and on what the
    /// hidden series have counted.
    package var seriesCount: Int {
        let (shown, families) = state.withLock { ($0.seriesCount, $0.families) }
        return families.reduce(shown) { $0 + $1.appearedCount }
    }

    /// All registered families sorted by name, without those of dependencies.
    package var catalogue: [CatalogueEntry] { state.withLock { $0.families.map(CatalogueEntry.init) } }

    /// Adds the totals of another registry's counters and histograms to the same series of this one.
    ///
    /// A reload of the configuration creates a new registry. Its counters continue, so a scraper sees no reset.
    package func countOn(from other: MetricRegistry) {
        func key(_ name: String, _ labels: Labels) -> String {
            labels.reduce(name) { "\($0),\($1.name)=\($1.value)" }
        }
        let theirs = Dictionary(
            uniqueKeysWithValues: other.state.withLock(\.handles).map { (key($0.name, $0.labels), $0.handle) }
        )
        for (name, labels, handle) in state.withLock(\.handles) {
            if let other = theirs[key(name, labels)] { handle.add(other) }
        }
    }

    // MARK: - Registration

    /// Shows the families of another registry on this page too, with the counts so far.
    package func show(_ other: MetricRegistry) {
        for family in other.state.withLock({ $0.families }) { register(family) }
        let handles = other.state.withLock { $0.handles }
        state.withLock { $0.handles += handles }
    }

    /// Adds a family. Traps if it conflicts with another.
    func register(_ family: MetricFamily) {
        state.withLock { state in
            let clashes = family.descriptor.claim(in: &state.claims)
            precondition(clashes.isEmpty, clashes.joined(separator: "; "))
            MetricFamily.insert(family, into: &state.families)
            state.seriesCount += family.seriesCount
        }
    }

    private typealias Made<Handle> = (handle: Handle, series: any MetricSeries)
    private typealias Labels = [(name: String, value: String)]

    private func split<Handle: MetricHandle>(
        _ descriptor: MetricDescriptor,
        bounds: [Double] = [],
        _ makeOne: @escaping (MetricDescriptor, Labels) -> Made<Handle>
    ) -> SplitFamily<Handle> {
        SplitFamily { self.make(descriptor, by: $0, expected: $1, bounds: bounds, makeOne) }
    }

    /// - Parameter expected: For each combination of values, whether it occurs; empty: all do.
    private func make<Handle: MetricHandle>(
        _ descriptor: MetricDescriptor,
        by axes: [LabelAxis],
        expected: [Bool],
        bounds: [Double],
        _ makeOne: (MetricDescriptor, Labels) -> Made<Handle>
    ) -> [Handle] {
        // The series of a hidden value appear together.
        var combinations: [(labels: Labels, hiddenBy: String?)] = [([], nil)]
        for axis in axes {
            combinations = combinations.flatMap { left in
                axis.values.map { value in
                    (left.labels + [(axis.label.name, value.text)], left.hiddenBy ?? (value.isShown ? nil : value.text))
                }
            }
        }
        for (index, isExpected) in expected.enumerated() where !isExpected {
            combinations[index].hiddenBy = combinations[index].hiddenBy ?? "\(index)"
        }
        var shown: [any MetricSeries] = []
        var hidden: [String: [HiddenSeries]] = [:]
        let handles = combinations.map { labels, hiddenBy in
            let (handle, series) = makeOne(descriptor, labels)
            if let hiddenBy { hidden[hiddenBy, default: []].append((series, handle)) } else { shown.append(series) }
            return handle
        }
        let groups = hidden.sorted { $0.key < $1.key }.map(\.value)
        let labels = axes.map(\.label)
        register(MetricFamily(descriptor: descriptor, labels: labels, bounds: bounds, series: shown, hidden: groups))
        state.withLock { state in
            for ((labels, _), handle) in zip(combinations, handles) {
                state.handles.append((descriptor.name, labels, handle))
            }
        }
        return handles
    }

    private static func counterSeries(_ descriptor: MetricDescriptor, _ labels: Labels) -> Made<Counter> {
        let counter = Counter(carriesExemplars: descriptor.carriesExemplars)
        return (counter, CounterSeries(name: descriptor.name, labels: labels, counter: counter))
    }

    private static func gaugeSeries(_ descriptor: MetricDescriptor, _ labels: Labels) -> Made<Gauge> {
        let gauge = Gauge()
        return (gauge, ComputedSeries(name: descriptor.name, labels: labels) { gauge.value })
    }

    private static func histogramSeries(_ bounds: [Double]) -> (MetricDescriptor, Labels) -> Made<Histogram> {
        let buckets = HistogramSeries.labels(bounds)
        return { descriptor, labels in
            let histogram = Histogram(bounds: bounds, carriesExemplars: descriptor.carriesExemplars)
            let name = descriptor.name
            return (histogram, HistogramSeries(name: name, labels: labels, histogram: histogram, buckets: buckets))
        }
    }
}

/// A family that is registered when its labels are given.
package struct SplitFamily<Handle: Sendable> {
    fileprivate let handles: (_ axes: [LabelAxis], _ expected: [Bool]) -> [Handle]

    fileprivate var alone: Handle { handles([], [])[0] }

    package func by<A>(_ a: LabelDimension<A>) -> MetricVector1<A, Handle> { MetricVector1(a, handles([a.axis], [])) }

    /// - Parameter isExpected: Returns `false` for a pair that does not occur. Its series appears only if it counts.
    package func by<A, B>(
        _ a: LabelDimension<A>,
        _ b: LabelDimension<B>,
        where isExpected: (A, B) -> Bool = { _, _ in true }
    ) -> MetricVector2<A, B, Handle> {
        let expected = a.cases.flatMap { left in b.cases.map { isExpected(left, $0) } }
        return MetricVector2(a, b, handles([a.axis, b.axis], expected))
    }
}
