/// Runs the jobs of tasks that prefer other threads on the loop too.
final class LoopExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        guard let loop = SimulationLoop.current else { fatalError("a job on another thread") }
        loop.enqueue(UnownedJob(job))
    }
}
