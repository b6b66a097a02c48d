import StarwatchCore
import Synchronization

/// Memory of a service's last pass that found no work. Another pass would find the same until something is written or
/// work is due.
final class PassMemory: Sendable {
    private struct Entry {
        let revision: UInt64
        var at: Timestamp
        let end: Timestamp
        let next: Timestamp?
    }

    /// Upper bound between two passes.
    static let longest = Duration.seconds(600)

    private let entry = Mutex<Entry?>(nil)

    /// Records a pass that left no work due before `next`; `nil` means no work at all.
    ///
    /// - Parameter revision: The database's revision at the start of the pass; `nil` if other programs write to the
    ///   database, so that nothing is recorded.
    func remember(revision: UInt64?, at now: Timestamp, next: Timestamp?) {
        let end = min(now + Self.longest, next ?? now + Self.longest)
        entry.withLock { $0 = revision.map { Entry(revision: $0, at: now, end: end, next: next) } }
    }

    func forget() { entry.withLock { $0 = nil } }

    /// Returns `isResting` if a pass would find no work now, and the time of the next work. If the clock was set back,
    /// stored times can be in the future, so the service runs a pass.
    func rest(revision: UInt64?, at now: Timestamp) -> (isResting: Bool, next: Timestamp?) {
        entry.withLock { entry in
            guard let known = entry, known.revision == revision, known.at <= now, now < known.end else {
                return (false, nil)
            }
            entry?.at = now
            return (true, known.next)
        }
    }
}
