import Glibc

/// Brings the jobs that a simulation's thread starts to its loop, instead of to the threads of the runtime.
///
/// The runtime calls what is stored in `swift_task_enqueueGlobal_hook` for every job that no executor of ours takes:
/// those of unstructured tasks, task groups and actors. A preference for a task executor would miss unstructured
/// tasks, which our dependencies make too. Other threads are left alone.
enum JobHook {
    private typealias Original = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

    static func install() { _ = isInstalled }

    private static let isInstalled: Bool = {
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "swift_task_enqueueGlobal_hook") else {
            fatalError("this runtime has no hook for jobs")
        }
        symbol.assumingMemoryBound(to: Hook?.self).pointee = { job, original in
            if let loop = SimulationLoop.current { loop.enqueue(job) } else { original(job) }
        }
        return true
    }()
}
