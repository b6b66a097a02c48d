import Foundation
import ServiceLifecycle
import ServiceLifecycleTestKit
import Starwatch
import StarwatchCore
import StarwatchStore

/// One agent from its start to its stop or crash.
///
/// After a crash its tasks are still there, but nothing they do reaches the disk or the network any more.
final class AgentProcess: Sendable {
    private struct State {
        var isDead = false
        var hasLostPower = false
        var triggers: [Int: GracefulShutdownTestTrigger] = [:]
        var tasks: [Task<Void, Never>] = []
    }

    private let state = Confined(State())
    let died = Signal()
    private let disk: SimulatedDisk
    private let faults: FaultInjector
    private let trace: Trace
    private let meter: RequestMeter
    /// Power was lost: what was written last may be gone.
    private let onPowerLoss: @Sendable () -> Void

    init(
        disk: SimulatedDisk,
        faults: FaultInjector,
        trace: Trace,
        meter: RequestMeter,
        onPowerLoss: @escaping @Sendable () -> Void
    ) {
        self.meter = meter
        self.disk = disk
        self.faults = faults
        self.trace = trace
        self.onPowerLoss = onPowerLoss
    }

    var isDead: Bool { state.value.isDead }
    /// Whether it died with what it wrote last.
    var hasLostPower: Bool { state.value.hasLostPower }

    /// Ends the process between two instructions.
    func die() {
        guard !isDead else { return }
        var lost = 0.0
        if faults.strikes(.powerLoss, 0.1) {
            lost = Double(faults.number(.powerLoss, 0...100)) / 100
            state.value.hasLostPower = true
            onPowerLoss()
        }
        trace.note("crash, losing \(lost)")
        meter.ended()
        state.value.isDead = true
        disk.cut(losing: lost)
        died.raise()
    }

    /// What the store asks at every access.
    func interrupt(_ operation: StoreOperation, _ moment: StoreMoment) throws(StoreError) {
        let gone = StoreError.io(detail: "the process is gone")
        if isDead { throw gone }
        switch moment {
        case .begun:
            if faults.strikes(.diskBusy, 0.0005) { throw .busy }
            if faults.strikes(.diskError, 0.0005) { throw .io(detail: "simulated") }
        case .committing:
            if faults.strikes(.crashInTransaction, 0.0005) {
                die()
                throw gone
            }
            if faults.strikes(.diskFull, 0.001) { throw .full }
        case .ended:
            trace.note("s \(operation.rawValue)")
            if operation == .server { meter.stored() }
            if faults.strikes(.crashInTransaction, 0.0005) {
                die()
                throw gone
            }
            if faults.strikes(.diskLate, 0.0005) { throw .io(detail: "simulated, after the commit") }
        }
    }

    // MARK: - Running

    /// Starts everything that works by itself.
    func start(_ agent: Agent, clock: SimulatedClock) async {
        let workers = agent.workers(supervisor: nil)
        for (index, worker) in workers.enumerated() {
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

    /// Stops everything in reverse, each after the other, as a service group does; at once after a crash.
    func stop(_ agent: Agent) async {
        let tasks = state.value.tasks
        // Who waits in the last pass of a process that dies in it would wait for ever.
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
        meter.ended()
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        await agent.close()
    }
}
