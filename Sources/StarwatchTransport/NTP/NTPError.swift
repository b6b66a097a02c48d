package import StarwatchCore

/// Why an NTP server gave no time.
package enum NTPError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The server's name did not resolve.
    case dns
    /// Nothing can be sent there, or nobody listens.
    case network
    /// No answer to this question came in time.
    case timeout
    /// The task was cancelled.
    case cancelled
    /// The answer is none of a server, or its times make no sense.
    case malformed
    /// The server says itself that its clock is not right, or not right enough.
    case unsynchronised
    /// The server wants to be asked less often (a kiss-o'-death packet, `RATE`).
    case rateLimited
    /// The server wants not to be asked by us (a kiss-o'-death packet, `DENY` or `RSTR`).
    case refused

    /// One of a fixed set of words.
    package var reason: String {
        switch self {
        case .dns: "dns"
        case .network: "network"
        case .timeout: "timeout"
        case .cancelled: "cancelled"
        case .malformed: "malformed"
        case .unsynchronised: "unsynchronised"
        case .rateLimited: "rate_limited"
        case .refused: "refused"
        }
    }

    /// How the metrics count it.
    package var sampleResult: ClockSampleResult {
        switch self {
        case .dns, .network, .timeout, .cancelled: .failed
        case .malformed, .unsynchronised, .rateLimited, .refused: .unparsable
        }
    }

    /// One sentence.
    package var description: String {
        switch self {
        case .dns: "The time server's name does not resolve; look at clock.ntp_server."
        case .network: "The time server cannot be reached."
        case .timeout: "The time server did not answer in time."
        case .cancelled: "The question was given up."
        case .malformed: "The time server's answer makes no sense."
        case .unsynchronised: "The time server says that its own clock is not right."
        case .rateLimited: "The time server wants to be asked less often; that is done."
        case .refused: "The time server refuses to answer, so it is not asked again; set another clock.ntp_server."
        }
    }
}
