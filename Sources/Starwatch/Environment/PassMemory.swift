import StarwatchCore
import Synchronization

/// That the last pass of a service found nothing to do: until something is written, or its next work is due, another one
/// would read the same.
final class PassMemory: Sendable {
    private struct Entry {
        let revision: UInt64
        var at: Timestamp
        let end: Timestamp
        let next: Timestamp?
    }

    /// After so long it is looked all the same.
    static let longest = Duration.seconds(600)

    private let entry = Mutex<Entry?>(nil)

    /// Remembers a pass that left nothing to do before `next`; `nil`: nothing at all.
    ///
    /// - Parameter revision: The database's at the beginning of the pass; `nil`: others write to it, so nothing is
    ///   remembered.
    func remember(revision: UInt64?, at now: Timestamp, next: Timestamp?) {
        let end = min(now + Self.longest, next ?? now + Self.longest)
        entry.withLock { $0 = revision.map { Entry(revision: $0, at: now, end: end, next: next) } }
    }

    func forget() { entry.withLock { $0 = nil } }

    /// Whether a pass would find nothing now, and when there is work again. Under a clock that was set back, what was
    /// stored may be of the future, so it is looked.
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
