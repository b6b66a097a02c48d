import StarwatchCore
import Synchronization

/// Writes that can wait for others: the ends of unchanged cycles, one for each stream, and the request windows of accounts whose
/// visits end.
///
/// Storing each cycle on its own takes 18 µs of its CPU time (`Benchmarks/poll cycles`, 2 cores AMD EPYC).
final class LateWrites: Sendable {
    struct Batch: Sendable {
        fileprivate(set) var cycles: [StreamKey: CycleRecord] = [:]
        fileprivate(set) var windows: [DID: SpentWindow] = [:]

        var isEmpty: Bool { cycles.isEmpty && windows.isEmpty }

        mutating func remove(_ accounts: Set<DID>) {
            cycles = cycles.filter { !accounts.contains($0.key.account) }
            windows = windows.filter { !accounts.contains($0.key) }
        }
    }

    /// A request window, and the time of the account's last counted request.
    struct SpentWindow: Sendable {
        let bytes: [UInt8]
        let spentAt: Timestamp
    }

    private let batch = Mutex(Batch())

    var isEmpty: Bool { batch.withLock(\.isEmpty) }

    /// Whether an access for an account must find one of them stored; `nil`: an access for all.
    func concern(_ account: DID?) -> Bool {
        batch.withLock { batch in
            guard let account else { return !batch.isEmpty }
            return batch.windows[account] != nil || batch.cycles.keys.contains { $0.account == account }
        }
    }

    /// - Returns: Whether it is the first since ``take()``, so that the caller must have them stored.
    func add(_ cycle: CycleRecord) -> Bool {
        batch.withLock { batch in
            let isFirst = batch.isEmpty
            // One look into the dictionary: over itself, a record stays as it is.
            func merge(_ record: inout CycleRecord) { record = cycle.over(record) }
            merge(&batch.cycles[cycle.stream, default: cycle])
            return isFirst
        }
    }

    /// - Returns: As of ``add(_:)``.
    func add(_ window: SpentWindow, of account: DID) -> Bool {
        batch.withLock { batch in
            let isFirst = batch.isEmpty
            batch.windows[account] = window
            return isFirst
        }
    }

    /// Keeps what could not be stored. Later records of the same streams and accounts count more.
    func putBack(_ former: Batch) {
        batch.withLock { batch in
            for (stream, record) in former.cycles {
                batch.cycles[stream] = batch.cycles[stream]?.over(record) ?? record
            }
            batch.windows.merge(former.windows) { later, _ in later }
        }
    }

    func take() -> Batch {
        batch.withLock { batch in
            guard !batch.isEmpty else { return Batch() }
            defer {
                batch.cycles.removeAll(keepingCapacity: true)
                batch.windows.removeAll(keepingCapacity: true)
            }
            return batch
        }
    }
}
