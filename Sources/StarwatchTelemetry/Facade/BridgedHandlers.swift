import CoreMetrics

/// An alias, because CoreMetrics also has a type named `Counter`.
typealias StarwatchCounter = StarwatchTelemetry.Counter
/// An alias, because CoreMetrics also has a type named `Gauge`.
typealias StarwatchGauge = StarwatchTelemetry.Gauge

/// A counter of swift-metrics. A reset is ignored, because a counter never decreases.
final class BridgedCounter: CounterHandler, Sendable {
    private let counter: StarwatchCounter

    init(counter: StarwatchCounter) {
        self.counter = counter
    }

    func increment(by amount: Int64) {
        if amount > 0 { counter.increment(by: UInt64(amount)) }
    }

    func reset() {}
}

/// A meter, or a recorder without aggregation.
final class BridgedGauge: MeterHandler, RecorderHandler, Sendable {
    private let gauge: StarwatchGauge

    init(gauge: StarwatchGauge) {
        self.gauge = gauge
    }

    func set(_ value: Int64) { gauge.set(Double(value)) }
    func set(_ value: Double) { gauge.set(value) }
    func increment(by amount: Double) { gauge.add(amount) }
    func decrement(by amount: Double) { gauge.add(-amount) }
    func record(_ value: Int64) { gauge.set(Double(value)) }
    func record(_ value: Double) { gauge.set(value) }
}

/// A timer in seconds, or a recorder with aggregation.
final class BridgedHistogram: TimerHandler, RecorderHandler, Sendable {
    private let histogram: Histogram

    init(histogram: Histogram) {
        self.histogram = histogram
    }

    func recordNanoseconds(_ duration: Int64) { histogram.observe(Double(duration) / 1e9) }
    func record(_ value: Int64) { histogram.observe(Double(value)) }
    func record(_ value: Double) { histogram.observe(value) }
}
