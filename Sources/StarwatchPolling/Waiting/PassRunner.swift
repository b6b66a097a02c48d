import ServiceLifecycle

/// The passes of a service: one at a time, and cancelled together when the identity changes.
package final class PassRunner<Pass: Sendable>: Sendable {
    private let turn = ConcurrencyLimit(1)
    private let work = AbortableWork()

    package init() {}

    /// Makes a pass after the one in flight has ended.
    ///
    /// - Returns: `nil` if it was cancelled before it began.
    package func run<T: Sendable>(_ pass: @escaping @Sendable () async -> T) async -> T? {
        await work.run { await self.turn.run(pass) }
    }

    /// Runs work concurrently with the passes; ``abort()`` cancels it with them.
    package func runBeside<T: Sendable>(_ body: @escaping @Sendable () async -> T) async -> T { await work.run(body) }

    /// Cancels the pass in flight, and returns when it has ended.
    package func abort() async { await work.abort() }
}

/// The loop of a service that makes passes.
package struct PassLoop: Sendable {
    /// Raised if there is work before the next pass is due.
    package var wake: Signal
    package var time: any TimeSource
    /// `true` if a graceful shutdown lets the pass in flight finish and makes one more; otherwise the pass is
    /// cancelled.
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
