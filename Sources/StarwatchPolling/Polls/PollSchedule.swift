import Foundation
public import StarwatchCore

/// A request that is made again and again, and what becomes of its answers.
///
/// What is stored of it is data: its timing, its next run, the validator of its last answer. Its code comes back when
/// the host schedules it under the same ``name`` again, and the schedule goes on where it was (C-112).
public struct PollSchedule<Request: Encodable & Sendable, Response: Decodable & Sendable>: Sendable {
    /// `[a-z][a-z0-9_]{0,62}`. `nil`: the manager makes one, under which nobody goes on after a restart who did not
    /// keep it.
    public var name: String?
    public var request: PollRequest<Request, Response>
    /// When it runs. An interval's first run is at once.
    public var timing: PollTiming
    /// What becomes of runs that were missed. By default one run makes up for all of them.
    public var catchUp = CatchUp.latest
    /// Asks less often where nothing happens (C-241). `nil`, the default: never.
    public var slowDown: SlowDown?
    /// For whom and of which server; asked for at every run.
    public var context: @Sendable () async throws -> PollingContext
    /// Takes the result of every run, failures too.
    ///
    /// Until it returns, the answer counts as not seen: what it throws makes the run a failure, and the same answer
    /// comes again.
    public var handle: @Sendable (PollResult<Response>, PollingContext) async throws -> Void

    /// Fewer runs after many that brought nothing.
    public struct SlowDown: Sendable, Hashable {
        /// So many runs in a row were answered 204 or 304.
        public var afterEmptyRuns: Int
        /// Then one of so many runs is made, until one brings something. 1 makes every run.
        public var factor: Int

        public init(afterEmptyRuns: Int, factor: Int) {
            self.afterEmptyRuns = max(1, afterEmptyRuns)
            self.factor = max(1, factor)
        }
    }

    public init(
        name: String? = nil,
        request: PollRequest<Request, Response>,
        timing: PollTiming,
        context: @escaping @Sendable () async throws -> PollingContext,
        handle: @escaping @Sendable (PollResult<Response>, PollingContext) async throws -> Void
    ) {
        self.name = name
        self.request = request
        self.timing = timing
        self.context = context
        self.handle = handle
    }
}

/// The name of a schedule.
public struct ScheduleID: Sendable, Hashable, CustomStringConvertible {
    public let rawValue: String

    /// `nil` unless `text` matches `[a-z][a-z0-9_]{0,62}`.
    public init?(_ text: String) {
        guard let name = PollName(text) else { return nil }
        rawValue = name.rawValue
    }

    /// `poll_<ms>_<9 characters>` from the system's generator (R-POLL-18).
    init(madeAt now: Timestamp) {
        var generator = SystemRandomNumberGenerator()
        let characters = Array("0123456789abcdefghijklmnopqrstuvwxyz")
        let random = (0..<9).map { _ in characters.randomElement(using: &generator)! }
        rawValue = "poll_\(now.milliseconds)_\(String(random))"
    }

    public var description: String { rawValue }
}

/// How a schedule stands.
public struct PollStatus: Sendable, Hashable {
    public enum State: String, Sendable, CaseIterable {
        /// It waits for its next run.
        case idle
        /// A run is under way, or waits for its turn.
        case running
        /// The server, or our own limit, asks for a wait.
        case deferred
    }

    public var id: ScheduleID
    public var state: State
    /// `nil`: never.
    public var lastAttempt: Timestamp?
    /// `nil`: never.
    public var lastSuccess: Timestamp?
    /// `nil` until ``PollManager/run()`` has planned it, or when its expression never fires again.
    public var nextRun: Timestamp?
    /// Failures in a row.
    public var consecutiveFailures: Int
    /// Of the last failure; `nil` after a success.
    public var lastError: PollError.Code?
}

extension PollTiming {
    /// As JSON, for people who look into the database.
    var json: String {
        let fields: [String: String] =
            switch self {
            case .cron(let text, let timezone): ["cronExpression": text, "timezone": timezone]
            case .every(let interval): ["everyMilliseconds": "\(interval.wholeMilliseconds)"]
            }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings always encode.
        return String(decoding: (try? encoder.encode(fields)) ?? Data("{}".utf8), as: UTF8.self)
    }
}
