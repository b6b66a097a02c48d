import Foundation
import Testing

@testable import StarwatchTelemetry

@Suite struct CatalogueTests {
    @Test func everySeriesOnThePageIsInTheCatalogue() throws {
        let registry = try makeRepresentativeRegistry()
        #expect(registry.catalogue.reduce(0) { $0 + $1.seriesCount } == registry.seriesCount)
        let latency = try #require(registry.catalogue.first { $0.descriptor.name == "starwatch_api_latency_seconds" })
        #expect(latency.seriesCount == 2 * (5 + 3))
        #expect(latency.labels == [CatalogueLabel(name: "side", values: ["server", "client"])])
    }

    @Test func jsonIsReadable() throws {
        let json = try makeRepresentativeRegistry().catalogue.json()
        let parsed = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]])
        let sent = try #require(parsed.first { $0["name"] as? String == "starwatch_api_sent_bytes_total" })
        #expect(sent["type"] as? String == "counter")
        #expect(sent["unit"] as? String == "bytes")
        #expect(sent["exemplars"] as? Bool == true)
    }

    @Test func markdownHasOneRowPerFamily() throws {
        let catalogue = try makeRepresentativeRegistry().catalogue
        let lines = catalogue.markdown.split(separator: "\n")
        #expect(lines.count == catalogue.count + 2)
        #expect(lines.allSatisfy { $0.split(separator: "|", omittingEmptySubsequences: false).count == 9 })
        #expect(catalogue.rows.map(\.count) == catalogue.map { _ in 6 })
    }

    @Test func dependencyMetricsAreNotInTheCatalogue() throws {
        let bridge = MetricsBridge()
        let registry = MetricRegistry(dependencies: bridge)
        _ = bridge.makeCounter(label: "x", dimensions: [])
        #expect(registry.catalogue.map(\.descriptor.name) == ["starwatch_metrics_series_overflow_total"])
        #expect(registry.seriesCount == 1)
        #expect(bridge.seriesCount == 1)
    }
}
