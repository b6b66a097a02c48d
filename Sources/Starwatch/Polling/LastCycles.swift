import StarwatchCore
import Synchronization

/// The times of the last cycles of each poll, of any of the accounts that one process serves.
package final class LastCycles: Sendable {
    private let times = Mutex<[PollName: CycleTimes]>([:])

    package init() {}

    subscript(poll: PollName) -> CycleTimes { times.withLock { $0[poll] } ?? CycleTimes() }

    func noteAttempt(of poll: PollName, at time: Timestamp) {
        times.withLock { $0[poll, default: CycleTimes()].attempted = time }
    }

    func noteSuccess(of poll: PollName, at time: Timestamp) {
        times.withLock { $0[poll, default: CycleTimes()].succeeded = time }
    }
}
