import Foundation
public import StarwatchCore

/// A repeated request, and the handler of its results.
///
/// The database stores only data: the timing, the next run, and the validator of the last answer. The schedule resumes
/// when the host adds its code again under the same ``name``.
public struct PollSchedule<Request: Encodable & Sendable, Response: Decodable & Sendable>: Sendable {
    /// `[a-z][a-z0-9_]{0,62}`. `nil`: the manager generates one. The host must keep it to resume the schedule after a
    /// restart.
    public var name: String?
    /// The request of every run.
    public var request: PollRequest<Request, Response>
    /// The timing. An interval's first run is immediate.
    public var timing: PollTiming
    /// Handling of missed runs. By default one run replaces all of them.
    public var catchUp = CatchUp.latest
    /// Reduces the frequency while nothing changes. `nil`, the default: never.
    public var slowDown: SlowDown?
    /// The account and server; called for every run.
    public var context: @Sendable () async throws -> PollingContext
    /// Takes the result of every run, including failures.
    ///
    /// Until it returns, the answer counts as unseen. If it throws, the run has failed, and the same answer comes
    /// again.
    public var handle: @Sendable (PollResult<Response>, PollingContext) async throws -> Void

    /// Fewer runs after many empty ones.
    public struct SlowDown: Sendable, Hashable {
        /// The number of consecutive runs with a 204 or 304 before the slowdown.
        public var afterEmptyRuns: Int
        /// The interval of runs during the slowdown: one of `factor` is made, until one brings news. 1 makes every run.
        public var factor: Int

        /// A slowdown; both numbers are at least 1.
        public init(afterEmptyRuns: Int, factor: Int) {
            self.afterEmptyRuns = max(1, afterEmptyRuns)
            self.factor = max(1, factor)
        }
    }

    /// A schedule that catches up one missed run and never slows down.
    public init(
        name: String? = nil,
        request: PollRequest<Request, Response>,
        timing: PollTiming,
        context: @escaping @Sendable () async throws -> PollingContext,
        handle: @escaping @Sendable (PollResult<Response>, PollingContext) async throws -> Void
    ) {
        (self.name, self.request, self.timing, self.context) = (name, request, timing, context)
        self.handle = handle
    }
}

/// The name of a schedule.
public struct ScheduleID: Sendable, Hashable, CustomStringConvertible {
    /// The name as text.
    public let rawValue: String

    /// `nil` unless `text` matches `[a-z][a-z0-9_]{0,62}`.
    public init?(_ text: String) {
        guard let name = PollName(text) else { return nil }
        rawValue = name.rawValue
    }

    /// `poll_<ms>_<9 characters>` from the system's generator.
    init(madeAt now: Timestamp) {
        var generator = SystemRandomNumberGenerator()
        let characters = Array("0123456789abcdefghijklmnopqrstuvwxyz")
        let random = (0..<9).map { _ in characters.randomElement(using: &generator)! }
        rawValue = "poll_\(now.milliseconds)_\(String(random))"
    }

    /// The name as text.
    public var description: String { rawValue }
}

/// Status of a schedule.
public struct PollStatus: Sendable, Hashable {
    /// The states of a schedule.
    public enum State: String, Sendable, CaseIterable {
        /// It waits for its next run.
        case idle
        /// A run is in flight, or waits for its turn.
        case running
        /// A run waits for the server's rate limit, or the manager's own.
        case deferred
    }

    /// The name of the schedule.
    public var id: ScheduleID
    /// The state now.
    public var state: State
    /// The last attempt; `nil`: never.
    public var lastAttempt: Timestamp?
    /// The last success; `nil`: never.
    public var lastSuccess: Timestamp?
    /// The next run; `nil` until ``PollManager/run()`` has planned it, or if its expression never fires again.
    public var nextRun: Timestamp?
    /// The number of consecutive failures.
    public var consecutiveFailures: Int
    /// The code of the last failure; `nil` after a success.
    public var lastError: PollError.Code?
}

extension PollTiming {
    /// The status as JSON, for people who inspect the database.
    var json: String {
        let fields: [String: String] =
            switch self {
            case .cron(let text, let timezone): ["cronExpression": text, "timezone": timezone]
            case .every(let interval): ["everyMilliseconds": "\(interval.wholeMilliseconds)"]
            }
        return StableJSON.text(of: fields)
    }
}
