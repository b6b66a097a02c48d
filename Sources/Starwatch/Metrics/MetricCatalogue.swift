import StarwatchCore
import StarwatchTelemetry

/// Every metric family of an agent, as `starwatch metrics catalogue` prints it.
package enum MetricCatalogue {
    /// Columns for a terminal, with the number of series at the end.
    package static func text(for options: AgentOptions) throws(AgentError) -> String {
        let shown = try registry(options, MetricFeatures(options)).seriesCount
        return CatalogueRenderer.text(try registry(options).catalogue) + "\n\(shown) series with this configuration\n"
    }

    package static func markdown(for options: AgentOptions) throws(AgentError) -> String {
        CatalogueRenderer.markdown(try registry(options).catalogue)
    }

    package static func json(for options: AgentOptions) throws -> String {
        try CatalogueRenderer.json(try registry(options).catalogue)
    }

    private static func registry(
        _ options: AgentOptions,
        _ features: MetricFeatures = .all
    ) throws(AgentError) -> MetricRegistry {
        do {
            return try AgentMetrics.make(
                polls: options.polls.map(\.name.rawValue),
                sinks: options.delivery.sinks.map(\.name),
                features: features,
                now: { Timestamp(milliseconds: 0) }
            ).registry
        } catch {
            throw AgentError(.configuration, "\(error)")
        }
    }
}
