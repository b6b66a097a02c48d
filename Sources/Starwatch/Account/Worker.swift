import Logging
package import ServiceLifecycle
package import StarwatchCore
package import StarwatchPolling
package import StarwatchStore
import StarwatchTelemetry

/// Wake-up signals of the workers, raised by the modules that create their work.
package struct WakeSignals: Sendable {
    /// Changes or digests wait for delivery.
    package let dispatch = Signal()
    /// Delivered changes wait for their acknowledgement, or the watermark can move.
    package let acknowledge = Signal()
    /// Digests can have changed before their scheduled time.
    package let digests = Signal()
    /// Events wait for their callback.
    package let callbacks = Signal()
}

/// Dependencies shared by the workers of an account.
package struct WorkerContext: Sendable {
    package let store: Store
    package let account: Account
    package let environment: Environment
    package let wakes: WakeSignals
}

/// The result of one pass of a worker.
package protocol WorkerPass: Sendable {
    /// The result of a pass without work.
    init()
    /// Time of the next due work, by the worker's clock; `nil` when only a signal can announce work.
    var next: Timestamp? { get set }
    /// Whether the database failed without ending the pass.
    var hasFailed: Bool { get }
}

extension WorkerPass {
    package var hasFailed: Bool { false }

    /// Makes work due at `time`, or earlier if other work is.
    mutating func tryAgain(at time: Timestamp) { next = min(next ?? time, time) }
}

/// A service of an account that works in passes: when its signal is raised, when work is due, and at each ``ClockLook``.
///
/// Passes never overlap. A pass that the database ends is repeated after a few seconds.
package protocol Worker: Service {
    associatedtype Pass: WorkerPass

    var context: WorkerContext { get }
    var passes: PassRunner { get }
    /// Raised if there is work before the next pass is due.
    var wake: Signal { get }
    /// The time by the worker's clock.
    var now: Timestamp { get }
    /// `true` if a graceful shutdown lets the pass in flight finish and makes one more; otherwise the pass is cancelled.
    static var finishes: Bool { get }
    /// The worker as a user of the database, for its health.
    static var storeUser: StoreUser { get }
    /// The event for a pass that the database ended.
    static var storeFailed: AgentEvent { get }

    /// Does the work that is due now.
    func work(_ pass: inout Pass) async throws(StoreError)
}

extension Worker {
    var store: Store { context.store }
    var account: Account { context.account }
    var environment: Environment { context.environment }
    var wakes: WakeSignals { context.wakes }
    /// The server's clock.
    var clock: ServerClock { context.environment.clock }
    /// The local clock.
    var time: any TimeSource { context.environment.time }
    var metrics: AgentMetrics { context.environment.metrics }
    var logger: Logger { context.environment.logger }

    package func run() async throws {
        guard Self.finishes else {
            return await cancelWhenGracefulShutdown { await self.repeatPasses() }
        }
        while !Task.isShuttingDownGracefully && !Task.isCancelled {
            let pass = await pass()
            await cancelWhenGracefulShutdown { await self.idle(after: pass) }
        }
        if !Task.isCancelled { _ = await pass() }
    }

    /// Makes passes until the task is cancelled.
    ///
    /// - Parameter follow: Called after each pass.
    func repeatPasses(_ follow: (Pass) -> Void = { _ in }) async {
        while !Task.isCancelled {
            let pass = await pass()
            follow(pass)
            await idle(after: pass)
        }
    }

    private func idle(after pass: Pass) async {
        let look = ClockLook.wait(from: time.now)
        await wake.wait(for: pass.next.map { min(max($0 - now, .zero), look) } ?? look, on: time)
    }

    /// Makes one pass, after the one in flight has ended.
    package func pass() async -> Pass {
        await passes.run {
            var pass = Pass()
            do throws(StoreError) {
                try await self.work(&pass)
                self.store.health.ended(Self.storeUser, failed: pass.hasFailed)
            } catch {
                self.logger.log(Self.storeFailed, [.error: "\(error.description)"])
                // Otherwise the database is healthy, and another worker continues.
                if error != .leaseLost { self.store.health.ended(Self.storeUser, failed: true) }
                pass.next = self.now + .seconds(5)
            }
            return pass
        } ?? Pass()
    }

    /// Cancels the work in flight because the identity changed, and returns when it has ended.
    package func abort() async { await passes.abort() }
}
