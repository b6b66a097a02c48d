/// The origin of a server time; the `source` label.
public enum ClockSource: String, Sendable, CaseIterable, Codable {
    /// `X-Server-Time`, or the body of `GET /api/v2/time`.
    case timeEndpoint = "time_endpoint"
    /// The `Date` of any answer.
    case dateHeader = "date_header"
    case ntp
}

/// The fate of a reading; the `result` label.
public enum ClockSampleResult: String, Sendable, CaseIterable {
    case used
    /// The answer has an `Age`, so it comes from a cache and its time is old.
    case ignoredAge = "ignored_age"
    /// The answer took more than 2 s.
    case ignoredRTT = "ignored_rtt"
    /// The answer contains no readable time.
    case unparsable
    /// No answer came, or its times are inconsistent.
    case failed
}
