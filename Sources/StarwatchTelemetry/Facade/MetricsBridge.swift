package import CoreMetrics
import Synchronization

/// A `MetricsFactory` that shows the swift-metrics of dependencies on the page.
///
/// A process installs one factory for its lifetime, so the bridge outlives an agent: each new ``MetricRegistry`` gets
/// it. Names and labels of dependencies are sanitised. Their number of series is bounded; series beyond the budget are
/// dropped and counted. A destroyed series stays on the page, because vanishing series break rates.
package final class MetricsBridge: MetricsFactory, Sendable {
    /// Buckets of timers, in seconds.
    package static let timerBounds = [0.005, 0.025, 0.1, 0.5, 2, 10]
    /// Buckets of recorders with aggregation. Their unit is unknown.
    package static let recorderBounds: [Double] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000]

    /// The families are in the order of the page. A handle's key has the name of the series, and the names and values of its labels.
    private typealias State = (
        families: [MetricFamily], handles: [[String]: any AnyObject & Sendable], seriesCount: Int
    )

    /// Prefixes reserved for the program's own families.
    private static let ownPrefixes = ["starwatch_", "starred_projects_", "process_"]

    private let budget: Int
    let overflow = StarwatchCounter()
    private let state = Mutex<State>(([], [:], 0))

    /// - Parameter seriesBudget: Limit of the series of all dependencies together, including buckets.
    package init(seriesBudget: Int = 200) { budget = seriesBudget }

    /// The families of dependencies, sorted by name.
    var families: [MetricFamily] { state.withLock { $0.families } }

    /// Number of series of dependencies.
    package var seriesCount: Int { state.withLock { $0.seriesCount } }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let name = Self.counterName(label)
        let counter = handle(name: name, kind: .counter, dimensions: dimensions, samples: 1) { labels in
            let counter = StarwatchCounter()
            return (counter, CounterSeries(name: name, labels: labels, counter: counter))
        }
        return BridgedCounter(counter: counter ?? StarwatchCounter())
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        BridgedGauge(gauge: gauge(label, dimensions))
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        guard aggregate else { return BridgedGauge(gauge: gauge(label, dimensions)) }
        let name = Self.gaugeName(label)
        return histogram(name, unit: .none, by: dimensions, bounds: Self.recorderBounds)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let name = Self.timerName(label)
        return histogram(name, unit: .seconds, by: dimensions, bounds: Self.timerBounds)
    }

    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> StarwatchGauge {
        let name = Self.gaugeName(label)
        let gauge = handle(name: name, kind: .gauge, dimensions: dimensions, samples: 1) { labels in
            let gauge = StarwatchGauge()
            return (gauge, ComputedSeries(name: name, labels: labels) { gauge.value })
        }
        return gauge ?? StarwatchGauge()
    }

    private func histogram(
        _ name: String,
        unit: MetricUnit,
        by dimensions: [(String, String)],
        bounds: [Double]
    ) -> Histogram {
        let samples = bounds.count + 3
        let histogram = handle(
            name: name,
            kind: .histogram,
            unit: unit,
            dimensions: dimensions,
            samples: samples
        ) { labels in
            let histogram = Histogram(bounds: bounds)
            let series = HistogramSeries(
                name: name,
                labels: labels,
                histogram: histogram,
                buckets: HistogramSeries.labels(bounds)
            )
            return (histogram, series)
        }
        return histogram ?? Histogram(bounds: bounds)
    }

    /// Returns the handle of a series, created if necessary; `nil` beyond the budget or for a name conflict, which is
    /// counted. The caller then returns a handle that is not on the page.
    private func handle<Handle: AnyObject & Sendable>(
        name: String,
        kind: MetricKind,
        unit: MetricUnit = .none,
        dimensions: [(String, String)],
        samples: Int,
        make: ([(name: String, value: String)]) -> (Handle, any MetricSeries)
    ) -> Handle? {
        let labels = Self.labels(of: dimensions)
        let key = [name] + labels.flatMap { [$0.name, $0.value] }
        let found: Handle? = state.withLock { state in
            if let known = state.handles[key] { return known as? Handle }
            guard state.seriesCount + samples <= budget else { return nil }
            let family: MetricFamily
            if let known = state.families.first(where: { $0.descriptor.name == name }) {
                guard known.descriptor.kind == kind else { return nil }
                family = known
            } else {
                let descriptor = MetricDescriptor(
                    name: name,
                    kind: kind,
                    unit: unit,
                    help: "Reported by a dependency.",
                    stability: .detail,
                    carriesExemplars: false
                )
                guard !Self.ownPrefixes.contains(where: name.hasPrefix),
                    descriptor.clashes(with: state.families.map(\.descriptor)).isEmpty
                else { return nil }
                family = MetricFamily(descriptor: descriptor)
                MetricFamily.insert(family, into: &state.families)
            }
            let (handle, series) = make(labels)
            family.add(series)
            state.handles[key] = handle
            state.seriesCount += samples
            return handle
        }
        if found == nil { overflow.increment() }
        return found
    }
}

/// An alias, because CoreMetrics also has a type named `Counter`.
typealias StarwatchCounter = StarwatchTelemetry.Counter
/// An alias, because CoreMetrics also has a type named `Gauge`.
typealias StarwatchGauge = StarwatchTelemetry.Gauge

/// A counter of swift-metrics. A reset is ignored, because a counter never decreases.
final class BridgedCounter: CounterHandler, Sendable {
    private let counter: StarwatchCounter

    init(counter: StarwatchCounter) { self.counter = counter }

    func increment(by amount: Int64) { if amount > 0 { counter.increment(by: UInt64(amount)) } }

    func reset() {}
}

/// A meter, or a recorder without aggregation.
final class BridgedGauge: MeterHandler, RecorderHandler, Sendable {
    private let gauge: StarwatchGauge

    init(gauge: StarwatchGauge) { self.gauge = gauge }

    func set(_ value: Int64) { gauge.set(Double(value)) }
    func set(_ value: Double) { gauge.set(value) }
    func increment(by amount: Double) { gauge.add(amount) }
    func decrement(by amount: Double) { gauge.add(-amount) }
    func record(_ value: Int64) { gauge.set(Double(value)) }
    func record(_ value: Double) { gauge.set(value) }
}

/// A timer in seconds, or a recorder with aggregation.
extension Histogram: TimerHandler, RecorderHandler {
    package func recordNanoseconds(_ duration: Int64) { observe(Double(duration) / 1e9) }
    package func record(_ value: Int64) { observe(Double(value)) }
    package func record(_ value: Double) { observe(value) }
}
