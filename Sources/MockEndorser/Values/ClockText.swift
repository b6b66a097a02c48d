import Glibc

/// Formats times for HTTP and the dialects.
enum ClockText {
    /// Formats Unix seconds as `2026-01-01T12:00:00Z`.
    static func iso(_ seconds: Int) -> String { text(seconds, "%Y-%m-%dT%H:%M:%SZ") }

    /// Formats Unix seconds as an HTTP date (RFC 9110 §5.6.7) in one of its three forms.
    static func http(_ seconds: Int, _ form: HTTPDateForm = .imfFixdate) -> String {
        switch form {
        case .imfFixdate: text(seconds, "%a, %d %b %Y %H:%M:%S GMT")
        case .rfc850: text(seconds, "%A, %d-%b-%y %H:%M:%S GMT")
        case .asctime: text(seconds, "%a %b %e %H:%M:%S %Y")
        }
    }

    private static func text(_ seconds: Int, _ pattern: String) -> String {
        var time = time_t(seconds)
        var parts = tm()
        gmtime_r(&time, &parts)
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { buffer in
            let count = buffer.withMemoryRebound(to: CChar.self) { strftime($0.baseAddress!, 64, pattern, &parts) }
            return String(decoding: buffer.prefix(count), as: UTF8.self)
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
