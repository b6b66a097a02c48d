import StarwatchCore
import Synchronization

/// The ends of unchanged cycles that are not stored yet, one for each stream.
///
/// Storing each on its own takes 18 µs of a cycle's CPU time (`Benchmarks/poll cycles`, 2 cores AMD EPYC).
final class UnchangedCycles: Sendable {
    private let cycles = Mutex<[StreamKey: CycleRecord]>([:])

    var isEmpty: Bool { cycles.withLock(\.isEmpty) }

    /// - Returns: Whether it is the first since ``take()``, so that the caller must have them stored.
    func add(_ cycle: CycleRecord) -> Bool {
        cycles.withLock { cycles in
            let isFirst = cycles.isEmpty
            if let former = cycles[cycle.stream] {
                cycles[cycle.stream] = cycle.over(former)
            } else {
                cycles[cycle.stream] = cycle
            }
            return isFirst
        }
    }

    /// Keeps what could not be stored. Later records of the same streams count more.
    func putBack(_ former: [CycleRecord]) {
        cycles.withLock { cycles in
            for record in former { cycles[record.stream] = cycles[record.stream]?.over(record) ?? record }
        }
    }

    func take() -> [CycleRecord] {
        cycles.withLock { cycles in
            guard !cycles.isEmpty else { return [] }
            defer { cycles.removeAll(keepingCapacity: true) }
            return Array(cycles.values)
        }
    }
}

extension CycleRecord {
    /// The record, with the fields that it lacks from an earlier one.
    fileprivate func over(_ former: CycleRecord) -> CycleRecord {
        var record = self
        record.startedAt = startedAt ?? former.startedAt
        record.outcome = outcome ?? former.outcome
        record.successAt = successAt ?? former.successAt
        record.nextRun = nextRun ?? former.nextRun
        record.seenUntil = seenUntil ?? former.seenUntil
        return record
    }
}
