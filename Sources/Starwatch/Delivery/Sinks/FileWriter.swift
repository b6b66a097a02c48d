import StarwatchCore
import StarwatchPolling
import Synchronization

/// Writes the lines of a file sink one after the other, and remembers the ids of the latest ones.
final class FileWriter: Sendable {
    /// The longest wait for a file system, well within a delivery's lease.
    static let patience = Duration.seconds(10)

    /// Number of ids to remember of a file.
    let memory: Int
    let queue: BlockingQueue
    private let time: any TimeSource
    private let files: Mutex<RecentFiles>
    /// The time at which the write in progress began; `nil` if there is none.
    private let busySince = Mutex<Duration?>(nil)

    init(_ name: String, memory: Int, time: any TimeSource) {
        queue = BlockingQueue(label: "starwatch.sink.\(name)")
        (self.memory, self.time) = (memory, time)
        files = Mutex(RecentFiles(limit: memory))
    }

    /// Runs `write` after earlier ones. A hung file system ends the wait, and then refuses lines at once until it answers.
    func run(_ write: @escaping @Sendable (inout RecentFiles) -> SinkResult) async -> SinkResult {
        if let since = busySince.withLock({ $0 }), time.monotonic - since >= Self.patience { return .timeout }
        let result = await time.run(within: Self.patience, late: SinkResult.timeout) { [self] in
            await queue.run { [self] in
                busySince.withLock { $0 = time.monotonic }
                defer { busySince.withLock { $0 = nil } }
                return files.withLock { write(&$0) }
            }
        }
        return result ?? .unavailable(.stopping)
    }
}

/// The ids of the latest lines by file. Of many files, those without a line for longest are forgotten, and read again before
/// their next line.
struct RecentFiles {
    /// Number of full files to remember. Twice as many can be in memory, with about 1 MB of ids each.
    private static let fullFiles = 5

    private let limit: Int
    /// The files with lines since the last time that these were too many.
    private var latest: [String: RecentIDs] = [:]
    private var former: [String: RecentIDs] = [:]
    /// The number of ids of ``latest``.
    private var count = 0

    /// - Parameter limit: The number of ids of a full file.
    init(limit: Int) { self.limit = limit * Self.fullFiles }

    /// Removes and returns the ids of a file; `nil` if they are forgotten.
    mutating func take(_ path: String) -> RecentIDs? {
        guard let ids = latest.removeValue(forKey: path) else { return former.removeValue(forKey: path) }
        count -= ids.count
        return ids
    }

    mutating func keep(_ ids: RecentIDs, of path: String) {
        latest[path] = ids
        count += ids.count
        if count > limit { (former, latest, count) = (latest, [:], 0) }
    }
}

/// A bounded set of the most recently inserted ids.
struct RecentIDs: Sendable {
    private let capacity: Int
    private var known: Set<String> = []
    /// The ids in insertion order. Once full, the oldest is at ``next``.
    private var ring: [String] = []
    /// Index of the next insertion, which replaces the oldest id.
    private var next = 0

    /// - Parameter capacity: At least 1.
    init(capacity: Int) { self.capacity = capacity }

    var count: Int { known.count }

    func contains(_ id: String) -> Bool { known.contains(id) }

    /// Inserts an id. A known id changes nothing.
    mutating func insert(_ id: String) {
        guard known.insert(id).inserted else { return }
        guard ring.count == capacity else {
            ring.append(id)
            return
        }
        known.remove(ring[next])
        ring[next] = id
        next = (next + 1) % capacity
    }
}
