import Testing

@testable import StarwatchTelemetry

@Suite struct MetricRulesTests {
    private static func descriptor(
        _ name: String,
        _ kind: MetricKind,
        _ unit: MetricUnit = .none,
        help: String = "Help.",
        exemplars: Bool = false
    ) -> MetricDescriptor {
        MetricDescriptor(
            name: name,
            kind: kind,
            unit: unit,
            help: help,
            stability: .stable,
            carriesExemplars: exemplars
        )
    }

    @Test(arguments: [
        descriptor("starwatch_poll_attempts_total", .counter),
        descriptor("starwatch_api_received_bytes_total", .counter, .bytes),
        descriptor("starwatch_poll_last_success_timestamp_seconds", .gauge, .seconds),
        descriptor("starwatch_api_latency_seconds", .histogram, .seconds, exemplars: true),
        descriptor("starwatch_build_info", .info),
        descriptor("starred_projects_api_throughput_rps", .gauge),
        descriptor("starwatch_metrics_series", .gauge),
    ])
    func catalogueNamesFollowTheRules(descriptor: MetricDescriptor) {
        #expect(MetricRules.problems(of: descriptor) == [])
    }

    @Test(arguments: [
        descriptor("starwatch_polls", .counter),
        descriptor("starwatch_polls_total", .gauge),
        descriptor("starwatch_polls_count", .gauge),
        descriptor("starwatch_polls_bucket", .histogram),
        descriptor("starwatch_polls_created", .gauge),
        descriptor("starwatch_build", .info),
        descriptor("starwatch_build_info", .gauge),
        descriptor("starwatch:polls_total", .counter),
        descriptor("starwatchPolls_total", .counter),
        descriptor("starwatch__polls_total", .counter),
        descriptor("polls", .gauge),
        descriptor("starwatch_polls_counter_total", .counter),
        descriptor("starwatch_wait_ms", .gauge),
        descriptor("starwatch_wait_ms_total", .counter),
        descriptor("starwatch_wait_milliseconds", .gauge),
        descriptor("starwatch_wait_seconds", .gauge),
        descriptor("starwatch_sent_bytes_total", .counter),
        descriptor("starwatch_polls_total", .counter, help: ""),
        descriptor("starwatch_polls_total", .counter, help: "a\nb"),
        descriptor("starwatch_rows", .gauge, exemplars: true),
    ])
    func violationsOfEveryRuleAreFound(descriptor: MetricDescriptor) {
        #expect(MetricRules.problems(of: descriptor).count == 1)
    }

    @Test(arguments: ["le", "job", "instance", "type", "Reason", "__x", "a-b"])
    func conflictingLabelsAreProblems(label: String) {
        #expect(MetricRules.problems(of: Self.descriptor("t_x", .gauge), labels: [label]).count == 1)
    }

    @Test func duplicateLabelsAreProblems() {
        #expect(MetricRules.problems(of: Self.descriptor("t_x", .gauge), labels: ["a", "a"]).count == 1)
    }
}
