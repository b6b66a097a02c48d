public import StarwatchCore

/// How a poll ended, and what it took.
public struct PollResult<Response: Sendable>: Sendable {
    /// How a poll ended.
    public enum Outcome: Sendable {
        /// A valid answer, transformed.
        case value(Response)
        /// 204: the server has nothing to say.
        case empty
        /// 304: nothing changed since the answer whose validator was sent.
        case notModified
        case failure(PollError)
    }

    public let outcome: Outcome
    public let metadata: PollMetadata

    public init(_ outcome: Outcome, metadata: PollMetadata) {
        self.outcome = outcome
        self.metadata = metadata
    }

    /// Whether it did not fail.
    public var isSuccess: Bool { error == nil }

    /// The answer; `nil` where there is none, or nothing new in it.
    public var value: Response? {
        guard case .value(let value) = outcome else { return nil }
        return value
    }

    /// Why it failed; `nil` when it did not.
    public var error: PollError? {
        guard case .failure(let error) = outcome else { return nil }
        return error
    }

    /// As ``value``.
    ///
    /// - Throws: The ``PollError`` of a poll that failed.
    public func get() throws(PollError) -> Response? {
        if let error { throw error }
        return value
    }
}

/// What a poll took.
public struct PollMetadata: Sendable, Hashable, Encodable {
    /// `X-Request-ID` of its last try; every try has another.
    public let requestID: String
    /// When it began, by the local clock.
    public let startedAt: Timestamp
    /// From its beginning to its end, waits included.
    public let duration: Duration
    /// Tries after the first, of all pages.
    public let retryCount: Int

    public init(requestID: String, startedAt: Timestamp, duration: Duration, retryCount: Int) {
        self.requestID = requestID
        self.startedAt = startedAt
        self.duration = duration
        self.retryCount = retryCount
    }

    enum CodingKeys: String, CodingKey {
        case requestId, timestamp, duration, retryCount
    }

    /// `timestamp` is ISO 8601 in UTC, `duration` milliseconds (C-219).
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(requestID, forKey: .requestId)
        try container.encode(startedAt.iso8601, forKey: .timestamp)
        try container.encode(duration.wholeMilliseconds, forKey: .duration)
        try container.encode(retryCount, forKey: .retryCount)
    }
}
