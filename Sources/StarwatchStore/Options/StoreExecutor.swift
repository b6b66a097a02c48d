import Dispatch
import StarwatchCore

/// The serial executor on which a store runs.
package protocol StoreQueue: SerialExecutor {
    /// Runs `work` after all earlier work.
    func run(_ work: @escaping @Sendable () -> Void)

    /// Runs `work` after `delay`.
    func run(after delay: Duration, _ work: @escaping @Sendable () -> Void)
}

/// The store's serial queue. It keeps blocking SQLite calls off the cooperative threads.
final class StoreExecutor: StoreQueue {
    private let queue = DispatchQueue(label: "starwatch.store")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    func run(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + delay.inSeconds, execute: work)
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
