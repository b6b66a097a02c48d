import StarwatchCore
import StarwatchStore
import Synchronization

/// One of the last runs of a poll, also if it found nothing. Contains no personal data.
struct RecentRun: Sendable, Codable, Hashable {
    /// The last answer of the server.
    struct Answer: Sendable, Codable, Hashable {
        /// The HTTP status; `nil` if the server did not answer.
        var status: Int?
        var tookMilliseconds: Int64
        /// `X-Request-ID`.
        var requestID: String
        var serverRequestID: String?
    }

    let runID: String
    let poll: String
    /// The times are the local clock's, in epoch milliseconds.
    let startedAt: Int64
    let finishedAt: Int64
    /// The outcome; `skipped` for a skip.
    let outcome: String
    /// The reason for a failure or a skip, as a `FailureReason` or a `SkipReason`.
    var reason: String?
    /// The number of requests that were sent, without repetitions.
    var requests = 0
    var answer: Answer?
    /// The number of new changes.
    var new = 0

    init(runID: String, poll: PollName, startedAt: Timestamp, finishedAt: Timestamp, outcome: String) {
        self.runID = runID
        self.poll = poll.rawValue
        (self.startedAt, self.finishedAt) = (startedAt.milliseconds, finishedAt.milliseconds)
        self.outcome = outcome
    }

    /// The outcome of a run that was skipped.
    static let skipped = "skipped"
}

extension RecentRun {
    /// The reason as one sentence; `nil` without one.
    var sentence: String? {
        guard let reason else { return nil }
        if let skip = SkipReason(rawValue: reason), outcome == Self.skipped { return "Skipped: \(skip.phrase)." }
        return FailureReason(reason)?.sentence
    }
}

/// The last runs of a poll, in a ring.
final class RecentRuns: Sendable {
    /// The number of runs that are kept of each poll.
    static let capacity = StoreStories.keptRuns

    private struct Ring {
        var runs: [RecentRun] = []
        var next = 0
    }

    private let ring = Mutex(Ring())

    func add(_ run: RecentRun) {
        ring.withLock { ring in
            if ring.runs.count < Self.capacity {
                ring.runs.append(run)
            } else {
                ring.runs[ring.next] = run
            }
            ring.next = (ring.next + 1) % Self.capacity
        }
    }

    /// The runs, in no order.
    var all: [RecentRun] { ring.withLock(\.runs) }
}
