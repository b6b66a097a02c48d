import NIOCore

/// Runs tasks on an event loop's own thread. A request is then read, answered and written without thread changes, which
/// took more than half of the time of a small answer.
///
/// Code that such a task calls, and that has no executor of its own, also runs there, so it must be short.
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
