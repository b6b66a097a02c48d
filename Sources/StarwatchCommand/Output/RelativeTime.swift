import StarwatchCore

/// How far away a time is, in the largest unit that fits: `12 s ago`, `in 3 min`.
enum RelativeTime {
    /// - Parameter text: An RFC 3339 time; `nil` or anything else gives `never`.
    static func text(_ text: String?, now: Timestamp, never: String = "-") -> String {
        guard let text, let time = Timestamp(iso8601: text) else { return never }
        let seconds = (time - now).inSeconds
        let span = span(abs(seconds))
        if abs(seconds) < 1 { return "now" }
        return seconds < 0 ? "\(span) ago" : "in \(span)"
    }

    /// - Parameter seconds: Not negative.
    static func span(_ seconds: Double) -> String {
        switch seconds {
        case ..<120: "\(Int(seconds)) s"
        case ..<7200: "\(Int(seconds / 60)) min"
        case ..<172_800: "\(Int(seconds / 3600)) h"
        default: "\(Int(seconds / 86_400)) d"
        }
    }
}
