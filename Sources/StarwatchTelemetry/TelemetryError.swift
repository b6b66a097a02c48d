/// What can be wrong with the values that telemetry is made of.
///
/// Names of metrics and labels are not here: they are written in the code, so a bad one stops the program at start.
package enum TelemetryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// More names were configured than ``ConfiguredNames/limit``.
    case tooManyNames(count: Int)
    /// A configured name is not `[a-z][a-z0-9_]{0,62}`. The position counts from 0.
    case invalidName(position: Int)
    /// A configured name stands twice, or is one of the fixed names. The position counts from 0.
    case duplicateName(position: Int)

    package var description: String {
        switch self {
        case .tooManyNames(let count):
            "\(count) names are configured, but metrics have room for \(ConfiguredNames.limit): remove some."
        case .invalidName(let position):
            "Name number \(position + 1) must begin with a-z and go on with at most 62 of a-z, 0-9 and _: rename it."
        case .duplicateName(let position):
            "Name number \(position + 1) is taken: rename it."
        }
    }
}
