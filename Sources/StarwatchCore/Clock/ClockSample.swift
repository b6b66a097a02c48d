/// One reading of the server's clock.
public struct ClockSample: Sendable, Hashable {
    public let source: ClockSource
    /// The server's clock at some moment between ``sentAt`` and ``receivedAt``.
    public let serverTime: Timestamp
    /// The precision of the server's time: 1 s for `Date`.
    public let resolution: Duration
    /// The local wall clock when the request left. ``receivedAt`` is ``roundTrip`` later by the monotonic clock, so a
    /// step of the wall clock in between does no harm.
    public let sentAt: Timestamp
    public let receivedAt: Timestamp
    /// Measured by the monotonic clock.
    public let roundTrip: Duration

    public init(
        source: ClockSource,
        serverTime: Timestamp,
        resolution: Duration,
        sentAt: Timestamp,
        roundTrip: Duration
    ) {
        (self.source, self.serverTime, self.resolution, self.sentAt) = (source, serverTime, resolution, sentAt)
        self.roundTrip = roundTrip
        // Rounded up, so that the moment of the answer lies inside.
        let milliseconds = roundTrip.wholeMilliseconds
        let partial = roundTrip > .milliseconds(milliseconds)
        self.receivedAt = Timestamp(milliseconds: sentAt.milliseconds &+ milliseconds + (partial ? 1 : 0))
    }
}

extension ClockSample {
    /// Whether a server can have meant the time. `X-Server-Time: 0` and other mistakes are decades off.
    var isPlausible: Bool { serverTime.seconds > 1_262_304_000 && serverTime.seconds < 7_258_118_400 }
}

/// The server time found in an answer's headers.
public enum ServerClockReading: Sendable, Hashable {
    case sample(ClockSample)
    case rejected(ClockSampleResult, source: ClockSource)

    /// The header that the time comes from.
    public var source: ClockSource {
        switch self {
        case .sample(let sample): sample.source
        case .rejected(_, let source): source
        }
    }

    /// Reads `X-Server-Time` (seconds, milliseconds or RFC 3339), or else `Date`.
    ///
    /// - Parameters:
    ///   - serverTime: `X-Server-Time`, or the time in the body of the time endpoint.
    ///   - age: `Age`; any value disqualifies the answer, because it comes from a cache.
    ///   - sentAt: The wall clock when the request left.
    ///   - roundTrip: The time until the answer's head arrived, by the monotonic clock.
    public static func read(
        serverTime: String?,
        date: String?,
        age: String?,
        sentAt: Timestamp,
        roundTrip: Duration
    ) -> ServerClockReading {
        let source: ClockSource = serverTime == nil ? .dateHeader : .timeEndpoint
        if age != nil { return .rejected(.ignoredAge, source: source) }
        if let serverTime, let (time, resolution) = parse(serverTime) {
            return .sample(
                ClockSample(
                    source: .timeEndpoint,
                    serverTime: time,
                    resolution: resolution,
                    sentAt: sentAt,
                    roundTrip: roundTrip
                )
            )
        }
        if let date, let time = HTTPDate.parse(date, now: sentAt) {
            return .sample(
                ClockSample(
                    source: .dateHeader,
                    serverTime: time,
                    resolution: .seconds(1),
                    sentAt: sentAt,
                    roundTrip: roundTrip
                )
            )
        }
        return .rejected(.unparsable, source: source)
    }

    /// Parses Unix seconds (with or without a fraction), Unix milliseconds, or RFC 3339. The size of the number decides
    /// between seconds and milliseconds.
    static func parse(_ text: String) -> (Timestamp, resolution: Duration)? {
        let text = text.filter { $0 != " " && $0 != "\t" }
        if let time = Timestamp(iso8601: text) {
            return (time, resolution: text.contains(".") ? .milliseconds(1) : .seconds(1))
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count),
            parts.allSatisfy({ part in
                !part.isEmpty && part.utf8.allSatisfy(\.isDigit)
            }), let whole = Int64(parts[0]), whole < 100_000_000_000_000
        else { return nil }
        // 10¹¹ s is in the year 5138, and 10¹¹ ms is in 1973.
        if whole >= 100_000_000_000 { return (Timestamp(milliseconds: whole), resolution: .milliseconds(1)) }
        guard parts.count == 2 else { return (Timestamp(seconds: whole), resolution: .seconds(1)) }
        let digits = parts[1].prefix(3)
        let scale: (factor: Int64, resolution: Int64) = [(100, 100), (10, 10), (1, 1)][digits.count - 1]
        return (
            Timestamp(milliseconds: whole * 1000 + (Int64(digits) ?? 0) * scale.factor),
            resolution: .milliseconds(scale.resolution)
        )
    }
}

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
    /// The time differs from all before it. A second such one is used.
    case ignoredJump = "ignored_jump"
    /// The answer contains no readable time.
    case unparsable
    /// No answer came, or its times are inconsistent or decades off.
    case failed
}
