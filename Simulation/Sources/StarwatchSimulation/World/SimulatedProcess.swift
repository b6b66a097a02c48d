import Foundation
import ServiceLifecycle
import ServiceLifecycleTestKit
import Starwatch
import StarwatchCore
import StarwatchStore

/// One agent from its start to its stop or crash.
///
/// After a crash its tasks still exist, but they no longer reach the disk or the network.
final class SimulatedProcess: Sendable {
    private struct State {
        var isDead = false
        var hasLostPower = false
        var triggers: [Int: GracefulShutdownTestTrigger] = [:]
        var tasks: [Task<Void, Never>] = []
        /// Fault of a coming disk access, and the number of accesses before it.
        var armed: (kind: FaultKind, access: SimulatedDisk.Access, passing: Int)?
        /// Whether accesses of leases fail, so that they end.
        var losesLeases = false
        /// Whether every access fails, as on a machine that does not reach the database.
        var isPartitioned = false
    }

    private let state = Confined(State())
    let died = Signal()
    /// The place among the processes that share the accounts.
    let number: Int
    let clock: ProcessClock
    let lane = Lane()
    private let disk: SimulatedDisk
    private let faults: FaultInjector
    private let trace: Trace
    private let network: SimulatedNetwork
    /// Called at the end with whether the machine has lost power. Returns whether other processes go on.
    private let onDeath: @Sendable (Bool) -> Bool

    init(
        _ number: Int,
        disk: SimulatedDisk,
        faults: FaultInjector,
        trace: Trace,
        network: SimulatedNetwork,
        clock: ProcessClock,
        onDeath: @escaping @Sendable (Bool) -> Bool
    ) {
        (self.number, self.clock, self.network) = (number, clock, network)
        self.disk = disk
        self.faults = faults
        self.trace = trace
        self.onDeath = onDeath
    }

    private var meter: RequestMeter { network.meter }

    var isDead: Bool { state.value.isDead }

    /// Lets every access of leases fail, or ends that.
    func loseLeases(_ loses: Bool) { state.value.losesLeases = loses }

    /// Cuts the process off from the database, or ends that.
    func partition(_ isPartitioned: Bool) { state.value.isPartitioned = isPartitioned }

    /// Stops the process for a time. ``resume()`` lets its store go on.
    func stop(for duration: Duration) {
        clock.stop(for: duration)
        lane.hold()
    }

    func resume() { lane.release() }

    /// `true` if the process died in a power loss.
    var hasLostPower: Bool { state.value.hasLostPower }

    /// Ends the process between two instructions.
    func die() {
        guard !isDead else { return }
        let losesPower = faults.strikes(.powerLoss, 0.1)
        trace.note(losesPower ? "loss of power" : "crash")
        end(losesPower: losesPower)
        if !onDeath(losesPower) {
            disk.cut(isLost: losesPower ? sectorsLost() : nil)
        } else {
            disk.cutOff(number)
        }
    }

    /// Ends the process without a trace of it on the disk.
    func end(losesPower: Bool) {
        meter.ended(number)
        (state.value.isDead, state.value.hasLostPower) = (true, losesPower)
        died.raise()
    }

    /// Returns a function that chooses the lost sectors: all after a position, or random ones.
    private func sectorsLost() -> (Double) -> Bool {
        let kept = Double(faults.number(.powerLoss, 0...100)) / 100
        let areMixed = faults.number(.powerLoss, 0...1) == 0
        return { [faults] place in
            (areMixed ? Double(faults.number(.powerLoss, 0...99)) / 100 : place) >= kept
        }
    }

    private static let diskFaults: [(FaultKind, Double)] = [
        (.diskFull, 0.001), (.diskError, 0.0005), (.crashInWrite, 0.0005),
    ]

    /// Decides once whether the disk fails during the coming database operation.
    ///
    /// - Parameters:
    ///   - factor: Factor of the probability for one transaction.
    ///   - most: Maximum number of accesses before the fault. A shorter operation has none.
    func armDisk(_ factor: Double = 1, passing most: Int = 6) {
        state.value.armed = nil
        guard let (kind, _) = Self.diskFaults.first(where: { faults.mayStrike($0, $1 * factor) }) else { return }
        let isRead = kind == .diskError && faults.number(kind, 0...3) == 0
        state.value.armed = (kind, isRead ? .read : .write, faults.number(kind, 0...most))
    }

    /// Returns the failure of a disk access; `nil` if it succeeds.
    func fail(_ access: SimulatedDisk.Access) -> SimulatedDisk.Failure? {
        if isDead { return .broken }
        guard let armed = state.value.armed, armed.access == access else { return nil }
        guard armed.passing == 0 else {
            state.value.armed?.passing -= 1
            return nil
        }
        state.value.armed = nil
        faults.happened(armed.kind)
        trace.note("disk: \(armed.kind.name)")
        if armed.kind == .crashInWrite { die() }
        return armed.kind == .diskFull ? .full : .broken
    }

    /// Injects faults into an operation of the store.
    func interrupt(_ operation: StoreOperation, _ moment: StoreMoment) throws(StoreError) {
        let gone = StoreError.io(detail: "the process is gone")
        if isDead { throw gone }
        if moment == .begun, state.value.isPartitioned { throw .busy }
        if operation == .lease, moment == .begun, state.value.losesLeases { throw .busy }
        switch moment {
        case .begun:
            if faults.strikes(.diskBusy, 0.0005) { throw .busy }
            armDisk()
        case .ended:
            state.value.armed = nil
            trace.note("s \(operation.rawValue)")
            if operation == .server { meter.stored(by: number) }
            if operation == .lease { network.leases?.noteChange(by: number) }
            if faults.strikes(.crashInTransaction, 0.0005) {
                die()
                throw gone
            }
            if faults.strikes(.diskLate, 0.0005) { throw .io(detail: "simulated, after the commit") }
        }
    }

    // MARK: - Running

    /// Starts the agent's workers.
    func start(_ agent: Agent) async {
        let workers = RunServices(agent, nil).workers
        for (index, worker) in workers.enumerated() {
            // Unstructured: the workers outlive this function, as a process outlives its start; `stop` awaits them.
            let task = Task {
                _ = try? await testGracefulShutdown { trigger in
                    state.value.triggers[index] = trigger
                    try await worker.run()
                }
            }
            state.value.tasks.append(task)
        }
        while state.value.triggers.count < workers.count { try? await clock.sleep(for: .microseconds(1)) }
    }

    /// Stops the workers one by one in reverse order, as a service group does; at once after a crash.
    func stop(_ agent: Agent) async {
        resume()
        let tasks = state.value.tasks
        // A process can die in its last pass, whose waits then never end. Unstructured, because a task group would
        // await the watch even if the process does not die.
        let watch = Task {
            await died.wait()
            for task in tasks { task.cancel() }
        }
        defer { watch.cancel() }
        for index in tasks.indices.reversed() {
            if isDead { break }
            state.value.triggers[index]?.triggerGracefulShutdown()
            await withTaskCancellationHandler {
                await tasks[index].value
            } onCancel: {
            }
        }
        meter.ended(number)
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        // Closing moves the write-ahead log into the database.
        armDisk(10, passing: 20)
        network.leases?.close()
        await agent.close()
    }
}
