import Starwatch
import StarwatchCore

/// A time relative to now: `12 s ago`, `in 3 min`.
enum RelativeTime {
    /// - Parameter text: An RFC 3339 time; `nil` or anything else gives `never`.
    static func text(_ text: String?, now: Timestamp, never: String = "-") -> String {
        guard let text, let time = Timestamp(iso8601: text) else { return never }
        return AgeText.age((now - time).inSeconds)
    }
}
