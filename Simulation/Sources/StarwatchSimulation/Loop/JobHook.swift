import Glibc

/// Sends the jobs that a simulation's thread starts to the simulation's loop, instead of the runtime's thread pool.
///
/// The runtime calls the function in `swift_task_enqueueGlobal_hook` for every job without a custom executor: those of
/// unstructured tasks, task groups and actors. A task executor preference would miss unstructured tasks, which the
/// dependencies also start. Other threads are not affected.
enum JobHook {
    private typealias Original = @convention(thin) (UnownedJob) -> Void
    private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

    static func install() { _ = isInstalled }

    private static let isInstalled: Bool = {
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "swift_task_enqueueGlobal_hook") else {
            fatalError("the Swift runtime has no swift_task_enqueueGlobal_hook; use the toolchain named in README.md")
        }
        symbol.assumingMemoryBound(to: Hook?.self).pointee = { job, original in
            if let loop = SimulationLoop.current { loop.enqueue(job) } else { original(job) }
        }
        return true
    }()
}
