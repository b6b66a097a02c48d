import Testing

@testable import StarwatchTelemetry

@Suite struct CountOnTests {
    private struct Counted {
        let registry = MetricRegistry()
        let plain: Counter
        let labelled: MetricVector1<Side, Counter>
        let histogram: Histogram
        let gauge: Gauge

        init(bounds: [Double] = [1, 2]) {
            plain = registry.counter("t_plain_total", "Plain.")
            labelled = registry.counters("t_labelled_total", "Labelled.").by(LabelDimension("side"))
            histogram = registry.histogram("t_wait_seconds", "Waits.", bounds: bounds)
            gauge = registry.gauge("t_level", "Level.")
            registry.view(.counter, "t_view_total", "View.") { [plain] in Double(plain.value) }
            registry.histogramView("t_view_seconds", "View.", sumOf: [histogram], bounds: [bounds[0]])
        }
    }

    @Test func countersContinueAndGaugesRestart() {
        let (old, new) = (Counted(), Counted())
        old.plain.increment(by: 3)
        old.labelled[.server].increment(by: 5)
        for value in [0.5, 1.5, 9] { old.histogram.observe(value) }
        old.gauge.set(7)
        new.plain.increment()
        new.histogram.observe(1.5)
        new.registry.countOn(from: old.registry)
        #expect(new.plain.value == 4)
        #expect(new.labelled[.server].value == 5 && new.labelled[.client].value == 0)
        #expect(new.histogram.counts == [1, 2, 1] && new.histogram.sum == 12.5)
        #expect(new.gauge.value == 0)
        let page = text(new.registry.page(.text))
        // Views show their sources once, without adding them again.
        #expect(page.contains("\nt_view_total 4\n") && page.contains("\nt_view_seconds_count 4\n"))
        #expect(old.plain.value == 3)
    }

    @Test func histogramWithOtherBoundsRestarts() {
        let (old, new) = (Counted(), Counted(bounds: [1, 3]))
        old.histogram.observe(2)
        new.registry.countOn(from: old.registry)
        #expect(new.histogram.counts == [0, 0, 0])
    }

    @Test func newLabelValuesStartAtZeroAndRemovedOnesAreDropped() throws {
        func polls(
            _ names: [String]
        ) throws -> (MetricRegistry, MetricVector1<ConfiguredName, Counter>, ConfiguredNames) {
            let registry = MetricRegistry()
            let names = try ConfiguredNames(names)
            let counters = registry.counters("t_polls_total", "P.").by(LabelDimension("poll", of: names))
            return (registry, counters, names)
        }
        let (old, before, oldNames) = try polls(["a", "b"])
        before[oldNames["a"]!].increment(by: 2)
        before[oldNames["b"]!].increment(by: 4)
        let (new, after, newNames) = try polls(["b", "c"])
        new.countOn(from: old)
        #expect(after[newNames["b"]!].value == 4 && after[newNames["c"]!].value == 0)
        #expect(!text(new.page(.text)).contains("\"a\""))
    }
}
