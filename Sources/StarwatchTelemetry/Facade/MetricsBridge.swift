package import CoreMetrics
import Synchronization

/// Puts what dependencies report through swift-metrics on the same page, as `MetricsFactory`.
///
/// A process installs one factory and keeps it, so the bridge outlives an agent: each new ``MetricRegistry`` is given it.
/// Their names and labels are not ours to choose, so they are sanitised, and the number of series they may add is
/// bounded; what comes after that is dropped and counted. A series stays once it exists, also when destroyed, because
/// series that vanish break rates.
package final class MetricsBridge: MetricsFactory, Sendable {
    /// Buckets of timers, in seconds.
    package static let timerBounds = [0.005, 0.025, 0.1, 0.5, 2, 10]
    /// Buckets of recorders that aggregate; nothing is known of their unit.
    package static let recorderBounds: [Double] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000]

    private struct Key: Hashable {
        let name: String
        let labels: [String]
    }

    private struct State {
        /// In the order of the page.
        var families: [MetricFamily] = []
        var handles: [Key: any AnyObject & Sendable] = [:]
        var seriesCount = 0
    }

    /// What families of our own begin with, now and in later versions.
    private static let ownPrefixes = ["starwatch_", "starred_projects_", "process_"]

    private let budget: Int
    let overflow = StarwatchCounter()
    private let state = Mutex(State())

    /// - Parameter seriesBudget: How many series dependencies may add, each bucket counted.
    package init(seriesBudget: Int = 200) {
        budget = seriesBudget
    }

    /// The families of dependencies, by name.
    var families: [MetricFamily] { state.withLock { $0.families } }

    /// How many series dependencies have added.
    package var seriesCount: Int { state.withLock { $0.seriesCount } }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let name = ForeignName.counter(label)
        let counter = handle(name: name, kind: .counter, dimensions: dimensions, samples: 1) { labels in
            let counter = StarwatchCounter()
            return (counter, CounterSeries(name: name, labels: labels, counter: counter))
        }
        return BridgedCounter(counter: counter ?? StarwatchCounter())
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        BridgedGauge(gauge: gauge(label, dimensions))
    }

    package func makeRecorder(
        label: String,
        dimensions: [(String, String)],
        aggregate: Bool
    ) -> any RecorderHandler {
        guard aggregate else { return BridgedGauge(gauge: gauge(label, dimensions)) }
        let name = ForeignName.gauge(label)
        return BridgedHistogram(histogram: histogram(name, .none, dimensions, Self.recorderBounds))
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let name = ForeignName.timer(label)
        return BridgedHistogram(histogram: histogram(name, .seconds, dimensions, Self.timerBounds))
    }

    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> StarwatchGauge {
        let name = ForeignName.gauge(label)
        let gauge = handle(name: name, kind: .gauge, dimensions: dimensions, samples: 1) { labels in
            let gauge = StarwatchGauge()
            return (gauge, GaugeSeries(name: name, labels: labels, gauge: gauge))
        }
        return gauge ?? StarwatchGauge()
    }

    private func histogram(
        _ name: String,
        _ unit: MetricUnit,
        _ dimensions: [(String, String)],
        _ bounds: [Double]
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
                buckets: BucketLabels(bounds)
            )
            return (histogram, series)
        }
        return histogram ?? Histogram(bounds: bounds)
    }

    /// The handle of a series, made if there is room; `nil` if there is none.
    private func handle<Handle: AnyObject & Sendable>(
        name: String,
        kind: MetricKind,
        unit: MetricUnit = .none,
        dimensions: [(String, String)],
        samples: Int,
        make: ([(name: String, value: String)]) -> (Handle, any MetricSeries)
    ) -> Handle? {
        let labels = ForeignName.labels(dimensions)
        let key = Key(name: name, labels: labels.flatMap { [$0.name, $0.value] })
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
                    MetricLint.clashes(of: descriptor, with: state.families.map(\.descriptor)).isEmpty
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
