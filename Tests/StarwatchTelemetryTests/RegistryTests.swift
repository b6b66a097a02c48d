import Testing

@testable import StarwatchTelemetry

enum Reason: String, MetricLabel {
    case throttled
    case overlap = "already_running"
    case noToken = "no_token"
}

enum Side: String, MetricLabel { case server, client }

enum Single: String, MetricLabel { case only }

/// A label larger than one byte, for which the byte table cannot be used.
struct Wide: MetricLabel {
    static let allCases = [Wide(rawValue: "a")!, Wide(rawValue: "b")!]
    let rawValue: String
    init?(rawValue: String) { self.rawValue = rawValue }
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

@Suite struct RegistryTests {
    @Test func everySeriesExistsAtZeroFromTheFirstPage() throws {
        let registry = MetricRegistry()
        let polls = try ConfiguredNames(["a", "b"])
        _ = registry.counters("t_skipped_total", "Skips.")
            .by(LabelDimension("poll", of: polls), LabelDimension("reason", of: Reason.self))
        let lines = text(registry.page(.text)).split(separator: "\n")
        #expect(lines.count == 2 + 6)
        #expect(lines.contains(#"t_skipped_total{poll="b",reason="already_running"} 0"#))
        #expect(registry.seriesCount == 6)
    }

    @Test func theSeriesOfAHiddenValueAppearTogetherOnceOneCounts() {
        let registry = MetricRegistry()
        let vector = registry.counters("t_total", "T.")
            .by(LabelDimension<Side>("side", shown: [.server]), LabelDimension<Reason>("reason"))
        let seconds = registry.histograms("t_seconds", "T.", bounds: [1])
            .by(LabelDimension<Side>("side", shown: [.server]))
        #expect(registry.seriesCount == 3 + 4)
        #expect(!text(registry.page(.text)).contains("client"))
        vector[.client, .overlap].increment()
        #expect(registry.seriesCount == 6 + 4)
        #expect(text(registry.page(.text)).contains(#"t_total{side="client",reason="throttled"} 0"#))
        seconds[.client].observe(.seconds(2))
        #expect(registry.seriesCount == 6 + 8)
        #expect(text(registry.page(.text)).contains(#"t_seconds_count{side="client"} 1"#))
    }

    @Test func aPairThatIsNotExpectedAppearsIfItCountsAllTheSame() {
        let registry = MetricRegistry()
        let vector = registry.counters("t_total", "T.")
            .by(
                LabelDimension<Side>("side"),
                LabelDimension<Reason>("reason"),
                where: { $0 == .server || $1 == .noToken }
            )
        #expect(registry.seriesCount == 4)
        vector[.client, .throttled].increment()
        #expect(registry.seriesCount == 5)
        #expect(text(registry.page(.text)).contains(#"t_total{side="client",reason="throttled"} 1"#))
        #expect(!text(registry.page(.text)).contains(#"side="client",reason="already_running""#))
    }

    @Test func countsOfAReloadReachHiddenSeries() {
        func make() -> (MetricRegistry, MetricVector1<Side, Counter>) {
            let registry = MetricRegistry()
            return (
                registry,
                registry.counters("t_total", "T.").by(LabelDimension<Side>("side", shown: [.server]))
            )
        }
        let (former, counted) = make()
        counted[.client].increment(by: 3)
        let (registry, _) = make()
        registry.countOn(from: former)
        #expect(text(registry.page(.text)).contains(#"t_total{side="client"} 3"#))
    }

    @Test func everyCombinationHasItsOwnHandle() throws {
        let registry = MetricRegistry()
        let polls = try ConfiguredNames(["a", "b"])
        let vector = registry.counters("t_total", "T.")
            .by(LabelDimension("poll", of: polls), LabelDimension<Reason>("reason"))
        var expected: [String] = []
        var amount: UInt64 = 0
        for poll in polls.all {
            for reason in Reason.allCases {
                amount += 1
                vector[poll, reason].increment(by: amount)
                expected.append("t_total{poll=\"\(poll)\",reason=\"\(reason.rawValue)\"} \(amount)")
            }
        }
        #expect(text(registry.page(.text)).split(separator: "\n").dropFirst(2).map(String.init) == expected)
    }

    @Test func labelsOfAnySizeFindTheirIndex() {
        #expect(LabelDimension<Single>("l").indexOf(.only) == 0)
        #expect(Wide.allCases.map { LabelDimension<Wide>("l").indexOf($0) } == [0, 1])
        #expect(Reason.allCases.map { LabelDimension<Reason>("l").indexOf($0) } == [0, 1, 2])
    }

    @Test func matrixRowsCanBeSummedByAView() throws {
        let registry = MetricRegistry()
        let matrix = registry.counters("t_total", "T.")
            .by(LabelDimension<Side>("side"), LabelDimension<Reason>("reason"))
        registry.view(.counter, "v_x_total", "V.") { Double(matrix.all(.client).reduce(0) { $0 + $1.value }) }
        matrix[.server, .overlap].increment(by: 100)
        matrix[.client, .overlap].increment(by: 2)
        matrix[.client, .noToken].increment(by: 3)
        #expect(text(registry.page(.text)).contains("\nv_x_total 5\n"))
    }

    @Test(arguments: ["", "A", "1a", "a-b", "ä", "a b", String(repeating: "a", count: 64)])
    func invalidNamesAreRejected(name: String) {
        #expect(throws: TelemetryError.invalidName(position: 1)) { try ConfiguredNames(["ok", name]) }
    }

    @Test func namesAreLimitedAndUnique() throws {
        let sixteen = (0..<16).map { "n\($0)" }
        #expect(try ConfiguredNames(sixteen, after: ["server"]).all.count == 17)
        #expect(throws: TelemetryError.tooManyNames(count: 17)) { try ConfiguredNames(sixteen + ["x"]) }
        #expect(throws: TelemetryError.duplicateName(position: 1)) { try ConfiguredNames(["a", "a"]) }
        #expect(throws: TelemetryError.duplicateName(position: 0)) {
            try ConfiguredNames(["server"], after: ["server"])
        }
        #expect(try ConfiguredNames(["a"])["b"] == nil)
    }

    @Test func nameOfAnotherListTraps() async {
        await #expect(processExitsWith: .failure) {
            let dimension = LabelDimension("poll", of: try ConfiguredNames(["a"]))
            _ = dimension.indexOf(try ConfiguredNames(["b"]).all[0])
        }
    }

    @Test func viewOfAnotherKindTraps() async {
        await #expect(processExitsWith: .failure) { MetricRegistry().view(.histogram, "t_seconds", "Time.") { 1 } }
        await #expect(processExitsWith: .failure) { MetricRegistry().view(.info, "t_info", "Version.") { 1 } }
    }

    @Test func duplicateRegistrationTraps() async {
        await #expect(processExitsWith: .failure) {
            let registry = MetricRegistry()
            _ = registry.counter("t_polls_total", "One.")
            _ = registry.gauge("t_polls", "Two.")
        }
    }

    @Test func gaugesSetAndAdd() {
        let gauge = Gauge()
        gauge.set(2.5)
        gauge.add(-3)
        #expect(gauge.value == -0.5)
        gauge.set(true)
        #expect(gauge.value == 1)
    }

    @Test func observationsCountInTheFirstBucketThatFits() {
        let histogram = Histogram(bounds: [0.1, 1, 10])
        for value in [0.1, 0.11, 1, 10.5, -3, .nan, .infinity] { histogram.observe(value) }
        histogram.observe(.milliseconds(2500))
        #expect(histogram.counts == [2, 2, 1, 1])
        #expect(abs(histogram.sum - 14.21) < 1e-9)
    }

    @Test func manyAndLargeObservationsAreKept() {
        let histogram = Histogram(bounds: [1, 20_000])
        // More observations than a cell can count or sum.
        for _ in 0..<1_100_000 { histogram.observe(0) }
        for _ in 0..<1800 { histogram.observe(10_000.000001) }
        for value in [17_179.869183, 17_179.869184, 1e9] { histogram.observe(value) }
        #expect(histogram.counts == [1_100_000, 1802, 1])
        #expect(abs(histogram.sum - 1_018_034_359.740167) < 1e-5)
        // Reading changes nothing.
        #expect(histogram.counts == [1_100_000, 1802, 1])
    }

    @Test func concurrentUseLosesNothing() async {
        let registry = MetricRegistry()
        let counter = registry.counter("t_total", "T.", carriesExemplars: true)
        let gauge = registry.gauge("t_level", "T.")
        let histogram = registry.histogram("t_took_seconds", "T.", bounds: [1])
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for index in 0..<5000 {
                        counter.increment(exemplar: index == 7 ? Exemplar(runID: "r", atMilliseconds: 1) : nil)
                        gauge.add(1)
                        histogram.observe(Double(index % 2) * 2)
                    }
                }
            }
            group.addTask { for _ in 0..<50 { _ = registry.page(.openMetrics) } }
        }
        #expect(counter.value == 20_000)
        #expect(gauge.value == 20_000)
        #expect(histogram.counts == [10_000, 10_000])
        #expect(histogram.sum == 20_000)
    }

    @Test func collectorsRunBeforeThePage() async {
        let registry = MetricRegistry()
        let gauge = registry.gauge("t_rows", "T.")
        registry.collect { gauge.set(7) }
        #expect(text(registry.page(.text)).contains("t_rows 0\n"))
        #expect(text(await registry.render(.text)).contains("t_rows 7\n"))
    }

    @Test func viewsShowTheirSources() {
        let registry = MetricRegistry()
        let took = registry.histogram("s_took_seconds", "S.", carriesExemplars: true, bounds: [0.5, 2])
        registry.histogramView("c_took_seconds", "C.", stability: .contract, sumOf: [took], bounds: [0.5, 2])
        registry.histogramView("c_none_seconds", "C.", sumOf: [], bounds: [0.5])
        registry.view(.gauge, "c_rps", "C.") { 1.5 }
        registry.view(.gauge, "c_absent", "C.") { nil }
        took.observe(1)
        let page = text(registry.page(.text))
        #expect(page.contains("c_took_seconds_bucket{le=\"2.0\"} 1\n"))
        #expect(page.contains("c_none_seconds_bucket{le=\"+Inf\"} 0\n"))
        #expect(page.contains("c_rps 1.5\n"))
        #expect(!page.contains("c_absent"))
        #expect(registry.seriesCount == 5 + 5 + 4 + 1 + 1)
    }

    @Test func aViewOfSeveralHistogramsShowsTheirSumAndAnExemplarOfEach() {
        let registry = MetricRegistry()
        func source(_ name: StaticString) -> Histogram {
            registry.histogram(name, "S.", carriesExemplars: true, bounds: [0.5, 2])
        }
        let (first, second) = (source("s_first_seconds"), source("s_second_seconds"))
        registry.histogramView(
            "c_both_seconds",
            "C.",
            sumOf: [first, second],
            bounds: [0.5, 2]
        )
        first.observe(0.25)
        second.observe(0.25)
        second.observe(1, exemplar: Exemplar(runID: "run_1", atMilliseconds: 1))
        let page = text(registry.page(.text))
        #expect(page.contains("c_both_seconds_bucket{le=\"0.5\"} 2\n"))
        #expect(page.contains("c_both_seconds_bucket{le=\"+Inf\"} 3\n"))
        #expect(page.contains("c_both_seconds_sum 1.5\n"))
        #expect(page.contains("c_both_seconds_count 3\n"))
        let open = text(registry.page(.openMetrics)).split(separator: "\n")
        #expect(open.contains { $0.hasPrefix("c_both_seconds_bucket{le=\"2.0\"} 3 # {") })
    }

    @Test func theRateCoversTheLastMinuteOnly() {
        let rate = WindowedRate()
        for second in 0..<120 { rate.record(atMilliseconds: Int64(second) * 1000) }
        #expect(rate.perSecond(atMilliseconds: 119_999) == 1)
        #expect(rate.perSecond(atMilliseconds: 149_000) == 0.5)
        #expect(rate.perSecond(atMilliseconds: 10_000_000) == 0)
    }

    @Test func infoValuesAreSanitised() {
        #expect(CatalogueLabel.info("version", "1.2.3-rc+1").values == ["1.2.3-rc+1"])
        #expect(CatalogueLabel.info("version", "a\nb").values == ["unknown"])
        #expect(CatalogueLabel.info("version", "").values == ["unknown"])
    }
}
