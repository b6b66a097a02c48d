import GRDB
import Synchronization

/// The health of the database, judged by the last error and by the duration of the current access.
package final class StoreHealth: Sendable {
    private let lastFailure = Mutex<StoreErrorKind?>(nil)
    private let busySince = Mutex<ContinuousClock.Instant?>(nil)

    /// The last error since which no probe has succeeded; `nil` if the store is healthy.
    package var failure: StoreErrorKind? { lastFailure.withLock { $0 } }

    /// Whether the current access has taken longer than `limit`.
    package func isBusy(longerThan limit: Duration) -> Bool {
        busySince.withLock { $0.map { ContinuousClock.now - $0 > limit } ?? false }
    }

    func begin(at start: ContinuousClock.Instant) { busySince.withLock { $0 = start } }

    func end() { busySince.withLock { $0 = nil } }

    package func failed(_ kind: StoreErrorKind) {
        // Damage outranks later errors.
        lastFailure.withLock { last in if last != .corrupt { last = kind } }
    }

    func recovered() { lastFailure.withLock { $0 = nil } }
}

extension Store {
    /// Checks the database with a small read. After an error it checks with a write, and after damage it also checks
    /// all pages. If that succeeds, ``health`` is good again.
    ///
    /// - Parameter writes: Whether to write even if the store is healthy.
    package func probe(writes: Bool = false) throws(StoreError) {
        let failure = health.failure
        guard writes || failure != nil else {
            return try direct(.read) { db in _ = try db.row("SELECT id FROM active_identity") }
        }
        try write(.read) { db in
            if failure == .corrupt { try db.checkPages() }
            // SQLite does not write a row whose values do not change, so the value changes in between.
            try db.execute(sql: "UPDATE active_identity SET generation = generation + 1")
            try db.execute(sql: "UPDATE active_identity SET generation = generation - 1")
        }
        health.recovered()
    }

    /// Calls `answer` after all earlier work; never if the store is blocked.
    package nonisolated func whenIdle(_ answer: @escaping @Sendable () -> Void) { executor.run(answer) }
}
