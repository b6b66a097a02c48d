import StarwatchCore
import Synchronization

/// The last snapshot, valid until a write can change it. Most scrapes find no change since the last one.
///
/// Written on the store's queue, in the order of the transactions; read from any thread.
///
/// Without it a scrape with 100,000 rows takes 3.8 ms instead of 0.09 (`TelemetryBenchmark scrape`, 2 cores AMD EPYC).
final class SnapshotMemory: Sendable {
    private struct Entry {
        let streams: [StreamKey]
        let snapshot: StoreSnapshot
    }

    private let entry = Mutex<Entry?>(nil)

    func remember(_ snapshot: StoreSnapshot, of streams: [StreamKey]) {
        entry.withLock { $0 = Entry(streams: streams, snapshot: snapshot) }
    }

    func snapshot(of streams: [StreamKey]) -> StoreSnapshot? {
        entry.withLock { entry in entry?.streams == streams ? entry?.snapshot : nil }
    }

    func forget() {
        entry.withLock { $0 = nil }
    }
}
