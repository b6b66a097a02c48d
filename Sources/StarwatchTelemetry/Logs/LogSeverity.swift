package import Logging

/// The four levels of a line (R-LOG-01), and the values of the `level` label.
package enum LogSeverity: String, MetricLabel {
    case debug
    case info
    case warn
    case error

    /// Converts a level of swift-log: `trace` becomes debug, `notice` info, and `critical` error.
    package init(_ level: Logger.Level) {
        switch level {
        case .trace, .debug: self = .debug
        case .info, .notice: self = .info
        case .warning: self = .warn
        case .error, .critical: self = .error
        }
    }

    package var isError: Bool { self == .error }

    /// The level in a line: `DEBUG`, `INFO`, `WARN` or `ERROR`.
    package var text: String { rawValue.uppercased() }
}
