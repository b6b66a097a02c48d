import NIOCore

/// Runs tasks on an event loop's own thread: a request is then read, answered and written without changing threads,
/// which took more than half of the time of a small answer.
///
/// Whatever such a task calls that has no executor of its own runs there too, so nothing long may be.
final class EventLoopExecutor: TaskExecutor {
    let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
