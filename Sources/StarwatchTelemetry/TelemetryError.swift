/// An error in the configured names that metrics use as label values.
///
/// Names of metrics and labels are literals in the code. An invalid one traps at start.
package enum TelemetryError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The number of configured names exceeds ``ConfiguredNames/limit``.
    case tooManyNames(count: Int)
    /// A configured name does not match `[a-z][a-z0-9_]{0,62}`. The position counts from 0.
    case invalidName(position: Int)
    /// A configured name is a duplicate or one of the fixed names. The position counts from 0.
    case duplicateName(position: Int)

    package var description: String {
        switch self {
        case .tooManyNames(let count):
            "\(count) names are configured; the limit is \(ConfiguredNames.limit). Remove some."
        case .invalidName(let position):
            "Name \(position + 1) is invalid. Use a letter a-z, then at most 62 characters of a-z, 0-9 and _."
        case .duplicateName(let position):
            "Name \(position + 1) is already in use. Choose another."
        }
    }
}
