import Logging
package import StarwatchCore
package import StarwatchPolling
package import StarwatchStore
import StarwatchTelemetry
import Synchronization

/// A wake-up of one part of an account's work; several count as one.
package final class Wake: Sendable {
    private let isRaised = Atomic(false)
    private let visit: Signal

    /// - Parameter visit: Wakes the visit that looks for it.
    init(_ visit: Signal) { self.visit = visit }

    package func raise() {
        // Until somebody takes it, one signal is enough.
        if !isRaised.exchange(true, ordering: .acquiringAndReleasing) { visit.raise() }
    }

    /// Returns whether it was raised since the last call.
    func take() -> Bool { isRaised.exchange(false, ordering: .acquiringAndReleasing) }
}

/// Wake-ups of the parts of an account's work, raised by the modules that create it.
package final class WakeSignals: Sendable {
    /// Raised with each of them, for the account's visit.
    let visit: Signal
    /// Changes or digests wait for delivery.
    package let dispatch: Wake
    /// Delivered changes wait for their acknowledgement, or the watermark can move.
    package let acknowledge: Wake
    /// Digests can have changed before their scheduled time.
    package let digests: Wake
    /// Events wait for their callback.
    package let callbacks: Wake

    package init() {
        let visit = Signal()
        self.visit = visit
        (dispatch, acknowledge, digests, callbacks) = (Wake(visit), Wake(visit), Wake(visit), Wake(visit))
    }
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

/// A part of an account's work that is done in passes.
///
/// Passes never overlap. A pass that the database ends is repeated after a few seconds.
package protocol Worker: Sendable {
    associatedtype Pass: WorkerPass

    var account: Account { get }
    var passes: PassRunner { get }
    /// The time by the worker's clock.
    var now: Timestamp { get }
    /// The worker as a user of the database, for its health.
    static var storeUser: StoreUser { get }
    /// The event for a pass that the database ended.
    static var storeFailed: AgentEvent { get }

    /// Does the work that is due now.
    func work(_ pass: inout Pass) async throws(StoreError)

    /// Makes one pass.
    ///
    /// - Returns: The time of the next work by the local clock; `nil` when only a wake-up can announce some.
    func turn() async -> Timestamp?
}

extension Worker {
    var environment: Environment { account.environment }
    var wakes: WakeSignals { account.wakes }
    var store: Store { environment.store }
    /// The server's clock.
    var clock: ServerClock { environment.clock }
    /// The local clock.
    var time: any TimeSource { environment.time }
    var metrics: AgentMetrics { environment.metrics }
    var logger: Logger { environment.logger }

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

    package func turn() async -> Timestamp? {
        let pass = await pass()
        return local(pass.next)
    }

    /// Converts a time by the worker's clock to the local one.
    func local(_ next: Timestamp?) -> Timestamp? { next.map { time.now + ($0 - now) } }

    /// Cancels the work in flight because the identity changed, and returns when it has ended.
    package func abort() async { await passes.abort() }
}
