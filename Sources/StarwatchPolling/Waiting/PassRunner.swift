import ServiceLifecycle

/// The passes of a service: one at a time, and given up together when the identity changes.
package final class PassRunner<Pass: Sendable>: Sendable {
    private let turn = ConcurrencyLimit(1)
    private let work = AbortableWork()

    package init() {}

    /// Makes a pass once the one under way has ended.
    ///
    /// - Returns: `nil` when it was given up before it began.
    package func run<T: Sendable>(_ pass: @escaping @Sendable () async -> T) async -> T? {
        await work.run { await self.turn.run(pass) }
    }

    /// Runs work beside the passes that ``abort()`` gives up with them.
    package func runBeside<T: Sendable>(_ body: @escaping @Sendable () async -> T) async -> T { await work.run(body) }

    /// Gives up the pass under way, and returns when it has ended.
    package func abort() async { await work.abort() }
}

/// The loop of a service that makes passes.
package struct PassLoop: Sendable {
    /// Raised when there is something to do before the next pass is due.
    package var wake: Signal
    package var time: any TimeSource
    /// Whether a graceful shutdown lets the pass under way finish and makes one more; otherwise it is cancelled.
    package var finishes: Bool

    package init(wake: Signal, time: any TimeSource, finishes: Bool) {
        self.wake = wake
        self.time = time
        self.finishes = finishes
    }

    /// Makes passes until a graceful shutdown or the task's cancellation.
    ///
    /// - Parameter pass: One pass; returns the longest wait before the next.
    package func run(_ pass: @escaping @Sendable () async -> Duration) async {
        guard finishes else {
            return await cancelWhenGracefulShutdown {
                while !Task.isCancelled { await self.wake.wait(for: await pass(), on: self.time) }
            }
        }
        while !Task.isShuttingDownGracefully && !Task.isCancelled {
            let wait = await pass()
            await cancelWhenGracefulShutdown { await self.wake.wait(for: wait, on: self.time) }
        }
        if !Task.isCancelled { _ = await pass() }
    }
}
