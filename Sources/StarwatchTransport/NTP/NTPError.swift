package import StarwatchCore

/// The reason for a failed NTP query.
package enum NTPError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The server's name did not resolve.
    case dns
    /// The server is unreachable, or its port is closed.
    case network
    /// No response to this request arrived in time.
    case timeout
    /// The task was cancelled.
    case cancelled
    /// The response is not one of an NTP server, or its times are inconsistent.
    case malformed
    /// The server reports that its clock is not synchronised, or not precisely enough.
    case unsynchronised
    /// The server requests fewer queries (a kiss-o'-death packet, `RATE`).
    case rateLimited
    /// The server denies access (a kiss-o'-death packet, `DENY` or `RSTR`).
    case refused

    /// The value of the metrics' `result` label.
    package var sampleResult: ClockSampleResult {
        switch self {
        case .dns, .network, .timeout, .cancelled: .failed
        case .malformed, .unsynchronised, .rateLimited, .refused: .unparsable
        }
    }

    /// One sentence with the problem and the fix.
    package var description: String {
        switch self {
        case .dns: "The time server's name does not resolve; check clock.ntp_servers."
        case .network: "The time server is unreachable; check clock.ntp_servers and the firewall."
        case .timeout: "The time server did not respond in time; check clock.ntp_servers and the firewall."
        case .cancelled: "The time query was cancelled."
        case .malformed: "The time server's response is invalid; check clock.ntp_servers."
        case .unsynchronised: "The time server's own clock is not synchronised; set another clock.ntp_servers."
        case .rateLimited: "The time server asked for fewer queries; the agent now queries it less often."
        case .refused: "The time server denied access and is not queried again; set another clock.ntp_servers."
        }
    }
}
