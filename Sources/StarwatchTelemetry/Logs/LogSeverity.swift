package import Logging

/// The four levels a line can have (R-LOG-01). Also the values of the `level` label.
package enum LogSeverity: String, MetricLabel {
    case debug
    case info
    case warn
    case error

    /// `trace` is written as debug, `notice` as info, `critical` as error.
    package init(_ level: Logger.Level) {
        switch level {
        case .trace, .debug: self = .debug
        case .info, .notice: self = .info
        case .warning: self = .warn
        case .error, .critical: self = .error
        }
    }

    /// Whether a person has to look at it.
    package var isError: Bool { self == .error }

    /// As a line has it: `DEBUG`, `INFO`, `WARN`, `ERROR`.
    package var text: String { rawValue.uppercased() }
}
