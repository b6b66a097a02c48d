import Testing

@testable import StarwatchTelemetry

@Suite struct MetricClashTests {
    private static func descriptor(_ name: StaticString, _ kind: MetricKind) -> MetricDescriptor {
        MetricDescriptor(kind, name, "Help.")
    }

    @Test(arguments: [
        (descriptor("t_foo_total", .counter), descriptor("t_foo", .gauge), true),
        (descriptor("t_foo_total", .counter), descriptor("t_foo_created", .gauge), true),
        (descriptor("t_foo", .histogram), descriptor("t_foo_count", .gauge), true),
        (descriptor("t_foo", .gauge), descriptor("t_foo", .gauge), true),
        (descriptor("t_foo_info", .info), descriptor("t_foo", .gauge), true),
        (descriptor("t_foo_total", .counter), descriptor("t_foo_seconds", .gauge), false),
    ])
    func conflictsAreFoundInBothOrders(a: MetricDescriptor, b: MetricDescriptor, clash: Bool) {
        #expect(a.clashes(with: [b]).isEmpty != clash)
        #expect(b.clashes(with: [a]).isEmpty != clash)
    }
}
