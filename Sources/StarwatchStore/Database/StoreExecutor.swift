import Dispatch

/// The serial queue on which the store runs, so that a blocking SQLite call never holds a cooperative thread.
final class StoreExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "starwatch.store")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
