import Testing

@testable import StarwatchTelemetry

/// One family of every kind, with values.
func makeRepresentativeRegistry() throws -> MetricRegistry {
    let registry = MetricRegistry()
    let polls = try ConfiguredNames(["starred_projects", "offers"])
    let attempts = registry.counters("starwatch_poll_attempts_total", "Cycles that reached the API.")
        .by(LabelDimension("poll", of: polls))
    attempts[polls.all[0]].increment(by: 12_345_678_901)
    let bytes = registry.counter("starwatch_api_sent_bytes_total", "Bytes sent.", carriesExemplars: true)
    bytes.increment(by: 17, exemplar: Exemplar(runID: "run-1", atMilliseconds: 1_767_225_600_007))
    let latency = registry.histograms(
        "starwatch_api_latency_seconds",
        "Time to the last byte.",
        carriesExemplars: true,
        bounds: [0.005, 0.5, 2, 10, 1_000_000]
    )
    .by(LabelDimension<Side>("side"))
    latency[.client].observe(0.25, exemplar: Exemplar(runID: "run-2", atMilliseconds: 1_767_225_600_123))
    latency[.client].observe(1e7)
    registry.info("starwatch_build_info", "What runs.", [.info("version", "1.0"), .info("swift", "6.3")])
    registry.gauge("starwatch_clock_skew_seconds", "Server minus local.").set(-0.125)
    registry.gauge("starwatch_rate_limit_remaining", "Left.").set(99)
    registry.view(.counter, "starred_projects_poll_attempts_total", "Attempts.", stability: .contract) {
        Double(attempts[polls.all[0]].value)
    }
    MetricRegistry.$current.withValue(registry) { _ = LogMetrics() }
    ProcessMetrics.register(in: registry)
    return registry
}

@Suite struct ExpositionTests {
    private func makeSmall() -> MetricRegistry {
        let registry = MetricRegistry()
        let took = registry.histogram("t_took_seconds", "It \"took\" \\.", carriesExemplars: true, bounds: [0.5, 2])
        took.observe(0.25, exemplar: Exemplar(runID: "r-1", atMilliseconds: 1_767_225_600_050))
        took.observe(3)
        registry.counter("t_polls_total", "Polls.").increment(by: 3)
        registry.info("t_build_info", "Build.", [.info("version", "1")])
        registry.gauge("t_left_bytes", "Left.").set(0.1)
        return registry
    }

    @Test func wholeNumbersOfEveryLengthAreExact() {
        var numbers: [UInt64] = [0, .max, 9_007_199_254_740_993]
        var power: UInt64 = 1
        for _ in 0..<20 {
            numbers += [power - 1, power, power + 1, power &* 7]
            power &*= 10
        }
        for number in numbers {
            var alone = Array("x".utf8)
            alone.append(integer: number)
            #expect(text(alone) == "x\(number)")
        }
    }

    @Test(arguments: [1, 2, 100]) func aFamilyOfAnySizeHasAllItsLines(size: Int) {
        let registry = MetricRegistry()
        let family = MetricFamily(descriptor: .init(.counter, "t_family_total", "Family."))
        var expected = "# HELP t_family_total Family.\n# TYPE t_family_total counter\n"
        for index in 0..<size {
            let counter = Counter()
            counter.increment(by: UInt64.max / UInt64(index + 1))
            family.add(CounterSeries(name: "t_family_total", labels: [("i", "\(index)")], counter: counter))
            expected += "t_family_total{i=\"\(index)\"} \(counter.value)\n"
        }
        registry.register(family)
        #expect(text(registry.page(.text)) == expected)
    }

    @Test func textPageIsExact() {
        #expect(
            text(makeSmall().page(.text)) == #"""
                # HELP t_build_info Build.
                # TYPE t_build_info gauge
                t_build_info{version="1"} 1
                # HELP t_left_bytes Left.
                # TYPE t_left_bytes gauge
                t_left_bytes 0.1
                # HELP t_polls_total Polls.
                # TYPE t_polls_total counter
                t_polls_total 3
                # HELP t_took_seconds It "took" \\.
                # TYPE t_took_seconds histogram
                t_took_seconds_bucket{le="0.5"} 1
                t_took_seconds_bucket{le="2.0"} 1
                t_took_seconds_bucket{le="+Inf"} 2
                t_took_seconds_sum 3.25
                t_took_seconds_count 2

                """#
        )
    }

    @Test func openMetricsPageIsExact() {
        #expect(
            text(makeSmall().page(.openMetrics)) == #"""
                # TYPE t_build info
                # HELP t_build Build.
                t_build_info{version="1"} 1
                # TYPE t_left_bytes gauge
                # UNIT t_left_bytes bytes
                # HELP t_left_bytes Left.
                t_left_bytes 0.1
                # TYPE t_polls counter
                # HELP t_polls Polls.
                t_polls_total 3
                # TYPE t_took_seconds histogram
                # UNIT t_took_seconds seconds
                # HELP t_took_seconds It \"took\" \\.
                t_took_seconds_bucket{le="0.5"} 1 # {run_id="r-1"} 0.25 1767225600.050
                t_took_seconds_bucket{le="2.0"} 1
                t_took_seconds_bucket{le="+Inf"} 2
                t_took_seconds_sum 3.25
                t_took_seconds_count 2
                # EOF

                """#
        )
    }

    @Test func strictParserReadsTheRepresentativePage() async throws {
        let families = try OpenMetricsParser.parse(await makeRepresentativeRegistry().render(.openMetrics))
        #expect(families.map(\.name) == families.map(\.name).sorted())
        let sent = try #require(families.first { $0.name == "starwatch_api_sent_bytes" })
        #expect(sent.unit == "bytes")
        #expect(sent.samples[0].exemplar == #"{run_id="run-1"} 17 1767225600.007"#)
        #expect(families.first { $0.name == "starwatch_rate_limit_remaining" }?.unit == nil)
    }

    @Test(arguments: [
        "a{x=\"1\" 2\n# EOF\n", "# TYPE a gauge\n# HELP a h\na 1\n", "# TYPE a gauge\n# HELP a h\na 1\na 1\n# EOF\n",
        "# HELP a h\n# TYPE a gauge\na 1\n# EOF\n", "# TYPE a gauge\n# HELP a h\n\na 1\n# EOF\n",
        "# TYPE a counter\n# HELP a h\na 1\n# EOF\n", "# TYPE a gauge\n# HELP a \"h\na 1\n# EOF\n",
        "# TYPE a gauge\n# UNIT a bytes\n# HELP a h\na 1\n# EOF\n",
        "# TYPE a gauge\n# HELP a h\na 1 # {x=\"1\"} 1\n# EOF\n",
        "# TYPE a histogram\n# HELP a h\na_bucket{le=\"1\"} 1\na_bucket{le=\"+Inf\"} 1\n# EOF\n",
        "# TYPE a histogram\n# HELP a h\na_bucket{le=\"1.0\"} 2\na_bucket{le=\"+Inf\"} 1\n# EOF\n",
    ])
    func strictParserRejectsInvalidPages(page: String) {
        #expect(throws: OpenMetricsParser.Failure.self) { try OpenMetricsParser.parse(Array(page.utf8)) }
    }

    static let hostile = [
        "", " ", " lead and trail ", #"\"#, #"\\"#, #"""#, #"""""#, "\n", "\n\n", #"\n"#, #"\\n"#, "\\\n",
        "\"} 1\n# EOF\n",
        "a,b=\"c\"", "ä€𝄞", "e\u{301}", "\u{301}mark", "👩‍👩‍👧", "\u{2028}", "\u{FEFF}", "שלום", "\r\n", "\t", "\u{0}",
        #"tail\"#, "{}",
        "# EOF", " # {x=\"1\"} 1",
    ]

    private func hostilePage(_ help: String, _ label: String, _ format: ExpositionFormat) -> [UInt8] {
        let descriptor = MetricDescriptor(
            name: "t_x",
            kind: .gauge,
            unit: .none,
            help: help,
            stability: .detail,
            carriesExemplars: false
        )
        let series = ComputedSeries(name: "t_x", labels: [("l", label), ("m", "x" + label + "y")]) { 0 }
        var page: [UInt8] = []
        MetricFamily(descriptor: descriptor, series: [series]).write(to: &page, format: format)
        return page
    }

    @Test(arguments: hostile)
    func hostileTextsRoundTrip(hostile: String) throws {
        // Equal strings can differ in their bytes, and Prometheus compares bytes.
        func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
        for help in [hostile, "h" + hostile] {
            let page = hostilePage(help, hostile, .openMetrics) + bytes("# EOF\n")
            let family = try #require(try OpenMetricsParser.parse(page).first)
            #expect(family.help.map(bytes) == bytes(help))
            let labels = try #require(family.samples.first?.labels)
            #expect(labels.mapValues(bytes) == ["l": bytes(hostile), "m": bytes("x" + hostile + "y")])
        }
    }

    @Test(arguments: hostile)
    func hostileLabelsAreEqualInBothFormatsAndAddNoLine(hostile: String) {
        let text = hostilePage(hostile, hostile, .text).split(separator: 0x0A, omittingEmptySubsequences: false)
        let openMetrics = hostilePage(hostile, hostile, .openMetrics)
            .split(separator: 0x0A, omittingEmptySubsequences: false)
        // HELP, TYPE and the sample, each ending in a line feed.
        #expect(text.count == 4 && openMetrics.count == 4)
        #expect(text[2] == openMetrics[2])
    }

    @Test(arguments: [
        (1.0, "1.0"), (0.005, "0.005"), (10, "10.0"), (0.0001, "0.0001"), (0.00001, "1e-05"), (1e6, "1e+06"),
        (999_999, "999999.0"), (1_234_567, "1.234567e+06"), (1e-10, "1e-10"), (2.5e17, "2.5e+17"), (1e100, "1e+100"),
        (0, "0.0"), (-0.5, "-0.5"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (0.1 + 0.2, "0.30000000000000004"),
        (12.5, "12.5"), (120, "120.0"),
    ])
    func numbersInLabelsAreCanonical(value: Double, expected: String) {
        #expect(value.canonicalText == expected)
    }

    @Test(arguments: [
        (0.0, "0"), (-0.0, "0"), (3, "3"), (-17, "-17"), (0.1, "0.1"), (1e15, "1000000000000000"), (1e17, "1e+17"),
        (123_456_789_012, "123456789012"),
        (.nan, "NaN"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (-0.125, "-0.125"),
    ])
    func valuesRoundTrip(value: Double, expected: String) {
        var bytes: [UInt8] = []
        bytes.append(value: value)
        #expect(text(bytes) == expected)
    }

    @Test func filterSelectsFamiliesAndSamples() throws {
        let registry = makeSmall()
        func families(_ names: String...) throws -> [String] {
            try OpenMetricsParser.parse(registry.page(.openMetrics, names: names)).map(\.name)
        }
        #expect(try families("t_took_seconds_bucket") == ["t_took_seconds"])
        #expect(try families("t_polls", "t_build_info") == ["t_build", "t_polls"])
        #expect(try families("t_polls_total") == ["t_polls"])
        #expect(try families("t_none") == [])
        #expect(text(registry.page(.text, names: ["t_none"])) == "")
    }

    @Test func onlyTheLatestExemplarOfABucketIsShown() throws {
        let registry = MetricRegistry()
        let took = registry.histogram("t_took_seconds", "T.", carriesExemplars: true, bounds: [1])
        took.observe(0.5, exemplar: Exemplar(runID: "old", atMilliseconds: 0))
        took.observe(0.75, exemplar: Exemplar(runID: "new", atMilliseconds: 1500))
        took.observe(0.8)
        let samples = try OpenMetricsParser.parse(registry.page(.openMetrics))[0].samples
        #expect(samples.map(\.exemplar) == [#"{run_id="new"} 0.75 1.500"#, nil, nil, nil])
        #expect(!text(registry.page(.text)).contains("run_id"))
    }

    @Test func familiesThatCarryNoExemplarsDropThem() {
        let registry = MetricRegistry()
        registry.counter("t_x_total", "T.").increment(exemplar: Exemplar(runID: "r", atMilliseconds: 0))
        #expect(!text(registry.page(.openMetrics)).contains("run_id"))
    }

    @Test func anExemplarNamesItsRequestIfItIsPlainAndShort() throws {
        let registry = MetricRegistry()
        let counter = registry.counter("t_x_total", "T.", carriesExemplars: true)
        func exemplar(_ run: String, _ request: String) throws -> String? {
            counter.increment(exemplar: Exemplar(runID: run, requestID: request, atMilliseconds: 1500))
            return try OpenMetricsParser.parse(registry.page(.openMetrics)).first?.samples.first?.exemplar
        }
        #expect(try exemplar("run_1", "a-b") == #"{run_id="run_1",request_id="a-b"} 1 1.500"#)
        #expect(try exemplar("run_1", "did:key:z6") == #"{run_id="run_1"} 1 1.500"#)
        let long = String(repeating: "a", count: 100)
        #expect(try exemplar("run_1", long) == #"{run_id="run_1",request_id="\#(long)"} 1 1.500"#)
        #expect(try exemplar("run_123456789", long) == #"{run_id="run_123456789"} 1 1.500"#)
    }

    @Test func exemplarsAreShortAndPlain() {
        #expect(Exemplar(runID: "", atMilliseconds: 0) == nil)
        #expect(Exemplar(runID: "did:key:z6", atMilliseconds: 0) == nil)
        #expect(Exemplar(runID: String(repeating: "a", count: 122), atMilliseconds: 0) != nil)
        #expect(Exemplar(runID: String(repeating: "a", count: 123), atMilliseconds: 0) == nil)
    }
}
