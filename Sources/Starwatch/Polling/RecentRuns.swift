import StarwatchCore
import StarwatchStore
import Synchronization

/// The last runs of a poll, in a ring.
final class RecentRuns: Sendable {
    /// The number of runs that are kept of each poll.
    static let capacity = StoreStories.keptRuns

    private let ring = Mutex<(runs: [RecentRun], next: Int)>(([], 0))

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
    var all: [RecentRun] { ring.withLock { $0.runs } }
}
