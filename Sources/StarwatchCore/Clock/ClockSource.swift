/// Where a reading of the server's clock comes from; the `source` label.
public enum ClockSource: String, Sendable, CaseIterable, Codable {
    /// `X-Server-Time`, or the body of `GET /api/v2/time`.
    case timeEndpoint = "time_endpoint"
    /// The `Date` of any answer.
    case dateHeader = "date_header"
    case ntp
}

/// What became of a reading; the `result` label.
public enum ClockSampleResult: String, Sendable, CaseIterable {
    case used
    /// The answer has an `Age`: a cache gave it, and its time is that of the cache's copy.
    case ignoredAge = "ignored_age"
    /// The answer took more than 2 s.
    case ignoredRTT = "ignored_rtt"
    /// There is no time in it that can be read.
    case unparsable
    /// There was no answer, or its own times make no sense.
    case failed
}
