import StarwatchCore
import StarwatchPolling
import Synchronization
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

@Suite(.timeLimit(.minutes(5)))
struct ScrapeCacheTests {
    /// Makes pages with numbers, and holds the time.
    private final class Source: Sendable {
        let time = Mutex(Duration.zero)
        let made = Mutex(0)
        let status = Mutex(200)

        func make(_ query: MetricsQuery) async -> MetricsAnswer {
            let number = made.withLock { made in
                made += 1
                return made
            }
            return MetricsAnswer(status: status.withLock { $0 }, contentType: "text/plain", body: [UInt8(number)])
        }

        func pass(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    private let source = Source()
    private let cache: ScrapeCache

    init() { cache = ScrapeCache { [source] in source.time.withLock { $0 } } }

    private func query(_ names: [String] = [], accept: String? = nil, timeout: Duration? = nil) -> MetricsQuery {
        var query = MetricsQuery()
        (query.names, query.accept, query.scrapeTimeout) = (names, accept, timeout)
        return query
    }

    private func scrape(_ query: MetricsQuery) async -> UInt8? {
        await cache.page(for: query, source.make).answer.body.first
    }

    @Test func aPageIsSharedFor100Milliseconds() async {
        #expect(await scrape(query()) == 1)
        source.pass(.milliseconds(99))
        #expect(await scrape(query()) == 1)
        source.pass(.milliseconds(1))
        #expect(await scrape(query()) == 2)
    }

    @Test func anotherFormatOtherNamesAndPrometheusGetTheirOwn() async {
        let openMetrics = "application/openmetrics-text"
        #expect(await scrape(query()) == 1)
        #expect(await scrape(query(accept: openMetrics)) == 2)
        #expect(await scrape(query(["a", "b"])) == 3)
        #expect(await scrape(query(timeout: .seconds(10))) == 4)
        #expect(await scrape(query(accept: openMetrics)) == 2)
        #expect(await scrape(query(["b", "a"])) == 3)
        #expect(await scrape(query(timeout: .seconds(9))) == 4)
    }

    @Test func aRefusalIsNotKept() async {
        source.status.withLock { $0 = 503 }
        #expect(await scrape(query()) == 1)
        source.status.withLock { $0 = 200 }
        #expect(await scrape(query()) == 2)
    }

    @Test func onlyAFewPagesAreKept() async {
        for number in 0..<100 {
            _ = await scrape(query(["\(number)"]))
            #expect(cache.count <= ScrapeCache.capacity)
        }
    }

    @Test func aScrapeDuringAnotherGetsItsPageUnlessThatFailed() async {
        for status in [200, 503] {
            source.pass(.seconds(1))
            let (began, gate) = (Promise<Void>(), Promise<Void>())
            let (cache, source, query) = (cache, source, query())
            async let first = cache.page(for: query) { query in
                began.fulfil(())
                _ = await gate.value()
                return MetricsAnswer(status: status, contentType: "text/plain", body: [77])
            }
            _ = await began.value()
            async let second = cache.page(for: query) { query in await source.make(query) }
            gate.fulfil(())
            #expect(await first.answer.body == [77])
            #expect(await second.answer.status == 200)
            #expect(await (second.answer.body == [77]) == (status == 200))
        }
    }
}
