/// Formats times for HTTP and the dialects.
enum ClockText {
    private static let days = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Formats Unix seconds as `2026-01-01T12:00:00Z`.
    static func iso(_ seconds: Int) -> String {
        let parts = Parts(seconds)
        return "\(pad(parts.year, 4))-\(pad(parts.month))-\(pad(parts.day))T\(parts.time)Z"
    }

    /// Formats Unix seconds as an HTTP date (RFC 9110 §5.6.7) in one of its three forms.
    static func http(_ seconds: Int, _ form: HTTPDateForm = .imfFixdate) -> String {
        let parts = Parts(seconds)
        let month = months[parts.month - 1]
        let day = days[parts.weekday]
        return switch form {
        case .imfFixdate: "\(day.prefix(3)), \(pad(parts.day)) \(month) \(pad(parts.year, 4)) \(parts.time) GMT"
        case .rfc850: "\(day), \(pad(parts.day))-\(month)-\(pad(parts.year % 100)) \(parts.time) GMT"
        case .asctime:
            "\(day.prefix(3)) \(month) \(parts.day < 10 ? " " : "")\(parts.day) \(parts.time) \(pad(parts.year, 4))"
        }
    }

    fileprivate static func pad(_ number: Int, _ width: Int = 2) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    private struct Parts {
        let year: Int
        let month: Int
        let day: Int
        /// Days since Thursday, the weekday of 1970-01-01.
        let weekday: Int
        let time: String

        /// Converts Unix seconds to a date in the proleptic Gregorian calendar.
        init(_ seconds: Int) {
            let days = Int((Double(seconds) / 86_400).rounded(.down))
            let rest = seconds - days * 86_400
            weekday = ((days % 7) + 7) % 7
            time = "\(pad(rest / 3600)):\(pad(rest / 60 % 60)):\(pad(rest % 60))"
            let shifted = days + 719_468
            let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
            let dayOfEra = shifted - era * 146_097
            let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
            let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
            let march = (5 * dayOfYear + 2) / 153
            day = dayOfYear - (153 * march + 2) / 5 + 1
            month = march < 10 ? march + 3 : march - 9
            year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        }
    }
}

/// The date formats that HTTP recipients must accept (RFC 9110 §5.6.7).
public enum HTTPDateForm: String, Sendable, CaseIterable {
    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    case imfFixdate = "imf_fixdate"
    /// `Sunday, 06-Nov-94 08:49:37 GMT`.
    case rfc850
    /// `Sun Nov  6 08:49:37 1994`.
    case asctime
}
