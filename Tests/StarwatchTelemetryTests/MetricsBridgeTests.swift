import CoreMetrics
import Testing

@testable import StarwatchTelemetry

@Suite struct MetricsBridgeTests {
    private func makeBridge(budget: Int = 200) -> (MetricRegistry, MetricsBridge) {
        let bridge = MetricsBridge(seriesBudget: budget)
        return (MetricRegistry(dependencies: bridge), bridge)
    }

    @Test func dependencyMetricsAreOnThePage() throws {
        let (registry, bridge) = makeBridge()
        bridge.makeCounter(label: "http.server.requests", dimensions: [("http.method", "GET")]).increment(by: 3)
        bridge.makeTimer(label: "http.server.duration.ms", dimensions: []).recordNanoseconds(1_500_000_000)
        bridge.makeMeter(label: "pool-size", dimensions: []).set(4.5)
        bridge.makeRecorder(label: "9queue", dimensions: [], aggregate: false).record(Int64(5))
        bridge.makeRecorder(label: "batchCount", dimensions: [], aggregate: true).record(50.0)
        bridge.makeFloatingPointCounter(label: "float_total", dimensions: []).increment(by: 2.5)
        let page = text(registry.page(.text))
        #expect(page.contains("http_server_requests_total{http_method=\"GET\"} 3\n"))
        #expect(page.contains("http_server_duration_seconds_bucket{le=\"2.0\"} 1\n"))
        #expect(page.contains("http_server_duration_seconds_sum 1.5\n"))
        #expect(page.contains("pool_size 4.5\n"))
        #expect(page.contains("n9queue 5\n"))
        #expect(page.contains("batchcount_bucket{le=\"100.0\"} 1\n"))
        #expect(page.contains("float_total 2\n"))
        #expect(throws: Never.self) { try OpenMetricsParser.parse(registry.page(.openMetrics)) }
    }

    @Test func theSameNameAndLabelsAreTheSameSeries() {
        let (registry, bridge) = makeBridge()
        bridge.makeCounter(label: "x", dimensions: [("a", "1"), ("b", "2")]).increment(by: 1)
        bridge.makeCounter(label: "x", dimensions: [("b", "2"), ("a", "1")]).increment(by: 1)
        #expect(text(registry.page(.text)).contains("x_total{a=\"1\",b=\"2\"} 2\n"))
        #expect(bridge.seriesCount == 1)
    }

    @Test func seriesOverTheBudgetAreDroppedAndCounted() {
        let (registry, bridge) = makeBridge(budget: 10)
        for index in 0..<15 { bridge.makeCounter(label: "x", dimensions: [("i", "\(index)")]).increment(by: 1) }
        bridge.makeTimer(label: "t", dimensions: []).recordNanoseconds(1)
        #expect(bridge.seriesCount == 10)
        #expect(text(registry.page(.text)).contains("starwatch_metrics_series_overflow_total 6\n"))
    }

    @Test func conflictingNamesAreDroppedAndCounted() {
        let (registry, bridge) = makeBridge()
        registry.counter("starwatch_polls_total", "Ours.").increment()
        bridge.makeCounter(label: "starwatch.polls", dimensions: []).increment(by: 7)
        bridge.makeCounter(label: "y", dimensions: []).increment(by: 7)
        bridge.makeMeter(label: "y", dimensions: []).set(8.0)
        let page = text(registry.page(.text))
        #expect(page.contains("\nstarwatch_polls_total 1\n"))
        #expect(page.contains("\ny_total 7\n"))
        #expect(!page.contains("\ny 8"))
        #expect(page.contains("starwatch_metrics_series_overflow_total 2\n"))
    }

    @Test func seriesOutliveTheRegistry() {
        let (first, bridge) = makeBridge(budget: 1)
        let counter = bridge.makeCounter(label: "x", dimensions: [])
        counter.increment(by: 1)
        bridge.makeCounter(label: "y", dimensions: []).increment(by: 1)
        let second = MetricRegistry(dependencies: bridge)
        counter.increment(by: 1)
        #expect(text(second.page(.text)).contains("x_total 2\n"))
        #expect(text(second.page(.text)).contains("starwatch_metrics_series_overflow_total 1\n"))
        #expect(second.catalogue.map(\.descriptor.name) == first.catalogue.map(\.descriptor.name))
    }

    @Test func labelValuesAreRedactedShortAndEscaped() throws {
        let (registry, bridge) = makeBridge()
        _ = bridge.makeCounter(
            label: "x",
            dimensions: [
                ("path", "/user/did:ethr:0xabc"), ("long", String(repeating: "ä", count: 100)), ("le", "q\"\n\\"),
                ("Path", "second"),
            ]
        )
        let sample = try #require(try OpenMetricsParser.parse(registry.page(.openMetrics)).last?.samples.first)
        #expect(sample.labels["path"] == "/user/[REDACTED:did]")
        #expect(sample.labels["long"]?.utf8.count == 64)
        #expect(sample.labels["exported_le"] == "q\"\n\\")
    }

    @Test func resetsAndNegativeAmountsDoNotLowerACount() {
        let (registry, bridge) = makeBridge()
        let counter = bridge.makeCounter(label: "x", dimensions: [])
        counter.increment(by: 5)
        counter.increment(by: -3)
        counter.reset()
        bridge.destroyCounter(counter)
        #expect(text(registry.page(.text)).contains("x_total 5\n"))
    }
}
