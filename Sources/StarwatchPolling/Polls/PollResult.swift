public import StarwatchCore

/// Outcome of a poll, with its cost.
public struct PollResult<Response: Sendable>: Sendable {
    /// Outcome of a poll.
    public enum Outcome: Sendable {
        /// A valid answer, transformed.
        case value(Response)
        /// 204: the server has no content.
        case empty
        /// 304: nothing changed since the answer with this validator.
        case notModified
        /// No answer, or none that the schema accepts.
        case failure(PollError)
    }

    /// The way in which the poll ended.
    public let outcome: Outcome
    /// The cost of the poll.
    public let metadata: PollMetadata

    /// A result; a test of a host makes its own.
    public init(_ outcome: Outcome, metadata: PollMetadata) {
        self.outcome = outcome
        self.metadata = metadata
    }

    /// `true` unless it failed.
    public var isSuccess: Bool { error == nil }

    /// The answer; `nil` if there is none, or if it is not new.
    public var value: Response? {
        guard case .value(let value) = outcome else { return nil }
        return value
    }

    /// The failure; `nil` after a success.
    public var error: PollError? {
        guard case .failure(let error) = outcome else { return nil }
        return error
    }

    /// The answer, as in ``value``.
    ///
    /// - Throws: The ``PollError`` of a poll that failed.
    public func get() throws(PollError) -> Response? {
        if let error { throw error }
        return value
    }
}

/// Cost of a poll.
public struct PollMetadata: Sendable, Hashable, Encodable {
    /// `X-Request-ID` of its last attempt; every attempt has a new one.
    public let requestID: String
    /// The start time, by the local clock.
    public let startedAt: Timestamp
    /// The time from start to end, including waits.
    public let duration: Duration
    /// Retries of all pages.
    public let retryCount: Int

    /// Metadata of a result.
    public init(requestID: String, startedAt: Timestamp, duration: Duration, retryCount: Int) {
        (self.requestID, self.startedAt, self.duration) = (requestID, startedAt, duration)
        self.retryCount = retryCount
    }

    /// `timestamp` is ISO 8601 in UTC, `duration` milliseconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(requestID, forKey: AnyKey("requestId"))
        try container.encode(startedAt.iso8601, forKey: AnyKey("timestamp"))
        try container.encode(duration.wholeMilliseconds, forKey: AnyKey("duration"))
        try container.encode(retryCount, forKey: AnyKey("retryCount"))
    }
}

/// Outcome of a host application's poll.
package enum HostPollOutcome: String, Sendable, CaseIterable {
    case ok, empty
    case notModified = "not_modified"
    case failed, cancelled

    init<Response>(_ outcome: PollResult<Response>.Outcome) {
        self =
            switch outcome {
            case .value: .ok
            case .empty: .empty
            case .notModified: .notModified
            case .failure(let error): error.code == .cancelled ? .cancelled : .failed
            }
    }
}
