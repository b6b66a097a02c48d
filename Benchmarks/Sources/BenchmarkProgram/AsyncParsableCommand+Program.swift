import ArgumentParser
import Glibc

extension AsyncParsableCommand {
    /// Runs the command in a task, while the main thread only waits.
    ///
    /// As an asynchronous `main` the main thread would end, and libdispatch's way to keep the process alive ends
    /// valgrind 3.19, Debian 12's.
    public static func runInTask() -> Never {
        Task.detached {
            await main()
            Glibc.exit(0)
        }
        while true { pause() }
    }
}
