import Starwatch
import StarwatchCore
import StarwatchTelemetry
import Testing

/// The reviewer of queries sees what is wrong, and only that.
@Suite struct ExpressionReviewTests {
    private let book: SampleBook

    init() throws {
        let metrics = try AgentMetrics.make(
            polls: ["starred_projects"],
            sinks: ["log"],
            now: { Timestamp(milliseconds: 0) }
        )
        let recordings = [
            "a:rows:sum": "sum without (state) (starwatch_outbox_rows)",
            "a:self:bool": "a:rows:sum > bool 0 or 0 * last_over_time(a:self:bool[10m])",
        ]
        book = SampleBook(
            catalogue: metrics.registry.catalogue,
            recordings: try recordings.mapValues { try PromQLParser.parse($0) }
        )
    }

    @Test(arguments: [
        "up{job=\"x\"} == 0", "sum by (poll) (rate(starwatch_poll_attempts_total[5m]))",
        "sum(rate(starwatch_poll_attempts_total{poll=~\"$poll\"}[$__rate_interval])) by (instance)",
        "histogram_quantile(0.9, sum by (le, endpoint) (rate(starwatch_api_latency_seconds_bucket[5m]))) >= 0",
        "rate(starwatch_api_latency_seconds_sum[5m]) / rate(starwatch_api_latency_seconds_count[5m])",
        "starwatch_outbox_capacity_rows - on (job, instance) a:rows:sum", "a:self:bool{instance=\"x\"} > 0",
        "starwatch_outbox_rows / ignoring (state) group_left () starwatch_outbox_capacity_rows",
        "starwatch_poll_in_flight * on (job, instance) group_left (version) starwatch_build_info",
        "-2 * deriv(starwatch_store_bytes{file=~\"wal|database\"}[1h] offset 5m) ^ 2 # a note",
        "sum by (target) (label_join(2 * starwatch_sink_disabled, \"target\", \"\", \"sink\"))",
        "count(starwatch_circuit_state > 0) or vector(0)", "absent(up{job=\"x\"})",
    ])
    func whatIsRightPasses(expression: String) {
        #expect(ExpressionReview.problems(of: expression, in: book) == [])
    }

    @Test(arguments: [
        ("starwatch_poll_attempts", "does not exist"),
        ("starwatch_api_latency_seconds", "does not exist"),
        ("rate(starwatch_poll_attempts_total_bucket[5m])", "does not exist"),
        ("a:rows:sums", "does not exist"),
        ("rate(starwatch_outbox_rows[5m])", "rate of the gauge"),
        ("increase(a_total[5m])", "does not exist"),
        ("deriv(starwatch_poll_attempts_total[5m])", "deriv of the counter"),
        ("starwatch_poll_attempts_total > 3", "the value of the counter"),
        ("rate(starwatch_poll_attempts_total)", "needs a range"),
        ("starwatch_outbox_rows[5m]", "must not have a range"),
        ("starwatch_outbox_rows{status=\"dead\"}", "has no label status"),
        ("starwatch_outbox_rows{state=\"died\"}", "has no state died"),
        ("starwatch_outbox_rows{state=~\"dead|died\"}", "has no state died"),
        ("starwatch_outbox_rows{state!=\"died\"}", "has no state died"),
        ("a:rows:sum{state=\"dead\"}", "uses state"),
        ("sum by (poll) (starwatch_outbox_rows)", "uses poll"),
        ("sum without (poll) (starwatch_outbox_rows)", "uses poll"),
        ("histogram_quantile(0.9, sum by (endpoint) (rate(starwatch_api_latency_seconds_bucket[5m])))", "uses le"),
        ("histogram_quantile(0.9, rate(starwatch_api_latency_seconds_sum[5m]))", "no bucket"),
        ("starwatch_outbox_rows / starwatch_outbox_capacity_rows", "never matches: only one side has state"),
        ("starwatch_outbox_rows and starwatch_outbox_capacity_rows", "never matches: only one side has state"),
        ("starwatch_outbox_rows / on (state) starwatch_outbox_capacity_rows", "one side does not have"),
        ("starwatch_outbox_capacity_rows / ignoring (state) starwatch_rate_limit_remaining", "no side has"),
        (
            "starwatch_poll_in_flight * on (job, instance) group_left (release) starwatch_build_info",
            "group_left uses release"
        ),
        ("label_join(starwatch_outbox_rows, \"a\", \"\", \"b\")", "uses b"),
        ("smooth(starwatch_outbox_rows)", "is not known"),
        ("sum(starwatch_outbox_rows", "missing"),
        ("starwatch_outbox_rows{state=dead}", "is broken"),
        ("starwatch_outbox_rows starwatch_outbox_rows", "more after the end"),
        ("1 +", "an operand is missing"),
        ("up ? 1", "cannot read"),
    ])
    func whatIsWrongIsNamed(expression: String, problem: String) {
        let problems = ExpressionReview.problems(of: expression, in: book)
        #expect(problems.contains { $0.contains(problem) }, "\(problems)")
    }

    @Test func aLegendMayShowOnlyLabelsThatAreLeft() {
        let expression = "sum by (state) (starwatch_outbox_rows)"
        #expect(ExpressionReview.problems(of: expression, in: book, legend: ["state"]) == [])
        #expect(ExpressionReview.problems(of: expression, in: book, legend: ["instance"]).count == 1)
        #expect(ExpressionReview.problems(of: "topk(1, \(expression))", in: book, legend: ["state"]) == [])
        #expect(PlacedQuery.labels(in: "{{poll}}: {{ kind }} now") == ["poll", "kind"])
    }

    @Test func operatorsBindAsInPrometheus() throws {
        func plain(_ sign: String) -> PromQL.Operation { PromQL.Operation(sign: sign) }
        let a = PromQL.selector(PromQL.Selector(name: "a"))
        let b = PromQL.selector(PromQL.Selector(name: "b"))
        #expect(
            try PromQLParser.parse("a or a and b == b + a * b")
                == .binary(
                    a,
                    plain("or"),
                    .binary(
                        a,
                        plain("and"),
                        .binary(b, plain("=="), .binary(b, plain("+"), .binary(a, plain("*"), b)))
                    )
                )
        )
        #expect(try PromQLParser.parse("a - a - b") == .binary(.binary(a, plain("-"), a), plain("-"), b))
        #expect(try PromQLParser.parse("a ^ a ^ b") == .binary(a, plain("^"), .binary(a, plain("^"), b)))
    }
}
