import Dispatch

/// The serial executor on which a store runs.
package protocol StoreQueue: SerialExecutor {
    /// Runs `work` after what was put there before.
    func run(_ work: @escaping @Sendable () -> Void)
}

/// The serial queue on which the store runs, so that a blocking SQLite call never holds a cooperative thread.
final class StoreExecutor: StoreQueue {
    private let queue = DispatchQueue(label: "starwatch.store")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func run(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }

    func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
