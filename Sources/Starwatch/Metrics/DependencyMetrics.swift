public import CoreMetrics
import StarwatchTelemetry

/// Metrics that dependencies or a host application report through swift-metrics, for the agents' `/metrics` page.
///
/// A process has one metrics factory. Create one value, bootstrap ``factory`` before anything reports a metric, and
/// pass the value to every agent of the process:
///
/// ```swift
/// let dependencies = DependencyMetrics()
/// MetricsSystem.bootstrap(dependencies.factory)
/// let agent = try await Agent(options: options, dependencies: dependencies)
/// ```
///
/// Names and labels are converted to the page's format. Series over the budget, and names that are taken, are dropped
/// and counted in `starwatch_metrics_series_overflow_total`.
public struct DependencyMetrics: Sendable {
    let bridge: MetricsBridge

    /// - Parameter seriesBudget: The maximum number of added series. Each bucket of a timer is one series.
    public init(seriesBudget: Int = 200) {
        bridge = MetricsBridge(seriesBudget: seriesBudget)
    }

    /// The factory for `MetricsSystem.bootstrap`.
    public var factory: any MetricsFactory { bridge }
}
