import NIOCore

/// An executor on an event loop's own thread. A request is read, answered and written without a change of threads, which
/// took more than half of the time of a small answer. And whoever reaches the port, without a login, can use one core at most,
/// and none of the threads that deliver.
///
/// Calls without an executor of their own run on the same thread, so none of them may take long.
final class EventLoopExecutor: TaskExecutor {
    let eventLoop: any EventLoop

    init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
