import StarwatchCore
import StarwatchTelemetry
import Synchronization

/// The times of the last cycles of each poll, of any of the accounts that one process serves.
package final class LastCycles: Sendable {
    /// The times by the polls' labels. A dictionary of names takes 2,000 instructions a cycle more (callgrind).
    private let times = Mutex(Array(repeating: CycleTimes(), count: ConfiguredNames.limit))

    package init() {}

    subscript(poll: Poll) -> CycleTimes { times.withLock { $0[poll.label.index] } }

    func noteAttempt(of poll: Poll, at time: Timestamp) { times.withLock { $0[poll.label.index].attempted = time } }

    func noteSuccess(of poll: Poll, at time: Timestamp) { times.withLock { $0[poll.label.index].succeeded = time } }
}
