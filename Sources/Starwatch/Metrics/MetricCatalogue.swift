import StarwatchCore
import StarwatchTelemetry

/// Every metric family of an agent, as `starwatch metrics catalogue` prints it.
package enum MetricCatalogue {
    /// The titles and the rows of a table for a terminal.
    package static func table(for options: AgentOptions) throws(AgentError) -> (titles: [String], rows: [[String]]) {
        (["NAME", "TYPE", "STABILITY", "LABELS", "SERIES", "HELP"], try registry(options).catalogue.rows)
    }

    /// The number of series with this configuration.
    package static func seriesCount(for options: AgentOptions) throws(AgentError) -> Int {
        try registry(options, MetricFeatures(options)).seriesCount
    }

    package static func markdown(for options: AgentOptions) throws(AgentError) -> String {
        try registry(options).catalogue.markdown
    }

    package static func json(for options: AgentOptions) throws -> String { try registry(options).catalogue.json() }

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
