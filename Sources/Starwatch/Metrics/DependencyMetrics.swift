public import CoreMetrics
import StarwatchTelemetry

/// What dependencies, or a host program, report through swift-metrics, for the agents' `/metrics` page.
///
/// A process installs one metrics factory and keeps it. Make one of these, bootstrap ``factory`` before anything
/// reports, and give it to every agent of the process:
///
/// ```swift
/// let dependencies = DependencyMetrics()
/// MetricsSystem.bootstrap(dependencies.factory)
/// let agent = try await Agent(options: options, dependencies: dependencies)
/// ```
///
/// Names and labels are made to fit the page. Series over the budget, and names that are taken, are dropped and counted
/// in `starwatch_metrics_series_overflow_total`.
public struct DependencyMetrics: Sendable {
    let bridge: MetricsBridge

    /// - Parameter seriesBudget: How many series may be added in all; each bucket of a timer is one.
    public init(seriesBudget: Int = 200) {
        bridge = MetricsBridge(seriesBudget: seriesBudget)
    }

    /// What to give to `MetricsSystem.bootstrap`.
    public var factory: any MetricsFactory { bridge }
}
