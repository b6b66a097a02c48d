import GRDB
import Synchronization

/// Whether the database can be used, judged by what was last tried and is being tried.
package final class StoreHealth: Sendable {
    private let lastFailure = Mutex<StoreErrorKind?>(nil)
    private let busySince = Mutex<ContinuousClock.Instant?>(nil)

    /// What failed and has not been seen to work again; `nil`: nothing.
    package var failure: StoreErrorKind? { lastFailure.withLock { $0 } }

    /// Whether the store has been at one thing for so long.
    package func isBusy(longerThan limit: Duration) -> Bool {
        busySince.withLock { $0.map { ContinuousClock.now - $0 > limit } ?? false }
    }

    func begin(at start: ContinuousClock.Instant) { busySince.withLock { $0 = start } }

    func end() { busySince.withLock { $0 = nil } }

    package func failed(_ kind: StoreErrorKind) {
        // Damage stays damage when the next thing fails for another reason.
        lastFailure.withLock { last in if last != .corrupt { last = kind } }
    }

    func recovered() { lastFailure.withLock { $0 = nil } }
}

extension Store {
    /// Asks the database for something small. After a failure it has to be written to, and its pages are checked
    /// where they were damaged; when that works, ``health`` is good again.
    ///
    /// - Parameter writes: Whether to write although nothing has failed.
    package func probe(writes: Bool = false) throws(StoreError) {
        let failure = health.failure
        guard writes || failure != nil else {
            return try direct(.read) { db in _ = try db.row("SELECT id FROM active_identity") }
        }
        try write(.read) { db in
            if failure == .corrupt { try db.checkPages() }
            // SQLite does not write a row that gets the values it has, so it gets another one in between.
            try db.execute(sql: "UPDATE active_identity SET generation = generation + 1")
            try db.execute(sql: "UPDATE active_identity SET generation = generation - 1")
        }
        health.recovered()
    }

    /// Calls `answer` when the store has done what it was asked before; never, if it is stuck.
    package nonisolated func whenIdle(_ answer: @escaping @Sendable () -> Void) { executor.run(answer) }
}
