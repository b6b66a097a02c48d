import Synchronization

/// Unchanged cycles that are about to be stored together.
final class UnchangedCycles: Sendable {
    private let cycles = Mutex<[CycleRecord]>([])

    /// - Returns: Whether it is the first since ``take()``, so that the caller must schedule the write.
    func add(_ cycle: CycleRecord) -> Bool {
        cycles.withLock { cycles in
            cycles.append(cycle)
            return cycles.count == 1
        }
    }

    func take() -> [CycleRecord] {
        cycles.withLock { cycles in
            let taken = cycles
            cycles.removeAll(keepingCapacity: true)
            return taken
        }
    }
}
