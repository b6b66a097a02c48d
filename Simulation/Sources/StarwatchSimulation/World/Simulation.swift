import Foundation
import Starwatch
import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// One run: a server, sinks, a disk, a clock, and a series of agents.
package final class Simulation: Sendable {
    /// Agent that runs, or has crashed.
    struct Running {
        let process: SimulatedProcess
        let agent: Agent
    }

    struct State {
        var tuning: Tuning
        /// Agents by the numbers of their processes.
        var running: [Int: Running] = [:]
        /// Number of the process that has the focus: events happen to it.
        var focus = 0
        var cycles = 0
        var starts = 0
        var chance: Chance
        var random: Chance
        var identifiers: Chance
        var isDone = false

        var process: SimulatedProcess? { running[focus]?.process }
        var agent: Agent? { running[focus]?.agent }
    }

    let plan: SimulationPlan
    let settings: Settings
    let clock: SimulatedClock
    /// Changes the database while no agent runs.
    let tamper: @Sendable (String) -> Void
    let faults: FaultInjector
    let trace: Trace
    let state: Confined<State>
    let network: SimulatedNetwork
    /// Of the active identity, or of each of many accounts.
    let auditors: [Auditor]
    let disk: SimulatedDisk

    private init(_ plan: SimulationPlan, lines: Int, tamper: @escaping @Sendable (String) -> Void) throws {
        self.plan = plan
        self.tamper = tamper
        let settings = Settings(seed: plan.seed, accounts: plan.accounts, stores: plan.stores)
        self.settings = settings
        clock = SimulatedClock()
        trace = Trace(clock: clock, kept: lines)
        let violations = Violations(trace: trace)
        faults = FaultInjector(
            seed: plan.seed,
            kinds: settings.kinds.subtracting(plan.without),
            limit: plan.limit,
            intensity: settings.intensity
        )
        let server = SimulatedServer(
            seed: plan.seed,
            settings: settings,
            clock: clock,
            faults: faults,
            violations: violations,
            defect: plan.defect
        )
        disk = try SimulatedDisk(isEmpty: settings.isDiskEmpty)
        network = SimulatedNetwork(
            seed: plan.seed,
            clock: clock,
            server: server,
            receivers: (0..<settings.sinkCount).map { [faults] in
                Receiver(
                    index: $0,
                    isRequired: !settings.optionalSinks.contains($0),
                    faults: faults,
                    violations: violations
                )
            },
            meter: RequestMeter(settings: settings, clock: clock, violations: violations),
            leases: settings.stores > 1 ? LeaseBook(disk: disk, clock: clock, reader: settings.stores) : nil,
            trace: trace
        )
        let accounts: [DID?] = settings.served.isEmpty ? [nil] : settings.served
        auditors = accounts.map { [network, clock] in Auditor(network: network, clock: clock, served: $0) }
        state = Confined(
            State(
                tuning: Tuning(
                    cap: settings.cap,
                    requestsPerMinute: settings.requestsPerMinute * (plan.defect == .tripleLimit ? 3 : 1)
                ),
                chance: Chance(seed: plan.seed, "events"),
                random: Chance(seed: plan.seed, "jitter"),
                identifiers: Chance(seed: plan.seed, "identifiers")
            )
        )
    }

    /// The auditor of the active identity.
    var auditor: Auditor { auditors[0] }
    var server: SimulatedServer { network.server }
    var receivers: [Receiver] { network.receivers }
    var meter: RequestMeter { network.meter }
    var violations: Violations { network.violations }

    /// Simulates on the calling thread until the run is over.
    ///
    /// - Parameters:
    ///   - lines: Number of trace lines to keep.
    ///   - tamper: Called with the database's path whenever no agent runs, to plant a defect.
    /// - Throws: An error if the folder of the database cannot be made.
    private static func runHere(
        _ plan: SimulationPlan,
        lines: Int,
        tamper: @escaping @Sendable (String) -> Void
    ) throws -> SimulationResult {
        let loop = SimulationLoop(chance: Chance(seed: plan.seed, "order"))
        return try loop.own {
            let simulation = try Simulation(plan, lines: lines, tamper: tamper)
            defer { simulation.disk.remove() }
            simulation.drive(loop)
            return simulation.result(loop)
        }
    }

    /// Simulates on a thread of its own.
    package static func run(
        _ plan: SimulationPlan,
        lines: Int = 0,
        tamper: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> SimulationResult {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                continuation.resume(with: Result { try runHere(plan, lines: lines, tamper: tamper) })
            }
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    /// Limit above the steps of every correct run; beyond it, the agent is in an endless loop.
    private static let mostSteps = 5_000_000

    private func drive(_ loop: SimulationLoop) {
        // Unstructured: this function is synchronous and runs the task's jobs itself, below, until it is done.
        Task {
            // Identifiers are table keys, and so decide how many pages a transaction writes.
            let words = RandomID.Words { self.state.value.identifiers.next() }
            await RandomID.$words.withValue(words) {
                await Offload.$replacement.withValue(LoopExecutor()) { await self.live() }
            }
            self.state.value.isDone = true
        }
        while !state.value.isDone {
            if loop.step() {
                guard loop.steps < Self.mostSteps else {
                    return violations.record(.lives, "the agent is in an endless loop")
                }
            } else if !clock.advance() {
                return violations.record(.lives, "every task waits, and none has a deadline")
            }
        }
        // The remaining jobs end tasks that nothing awaits.
        while loop.step() {}
    }

    private func result(_ loop: SimulationLoop) -> SimulationResult {
        SimulationResult(
            plan: plan,
            hash: trace.hash,
            violations: violations.all,
            cycles: state.value.cycles,
            steps: loop.steps,
            simulatedSeconds: Double(clock.boot) / 1e6,
            faults: faults.counts,
            starts: state.value.starts,
            lines: trace.lines
        )
    }

    // MARK: - The run

    private func live() async {
        guard await startAll(), await serveAll() else { return }
        let end = Int64(plan.cycles) * settings.interval.wholeMilliseconds * 1000
        while clock.boot < end, violations.isEmpty {
            let pause = state.value.chance.number(1...15) * Int(settings.interval.wholeMilliseconds)
            if settings.stores > 1 { state.value.focus = state.value.chance.number(0...settings.stores - 1) }
            await state.value.process?.died.wait(for: .milliseconds(pause), on: clock)
            guard await reviveIfDead() else { return }
            if settings.served.isEmpty { await act() } else { await actOnAccounts() }
            guard await reviveIfDead() else { return }
        }
        if violations.isEmpty { await settle() }
        await stopAll()
    }

    /// Ends all faults, and waits until everything is delivered and acknowledged, as long as there is progress.
    private func settle() async {
        faults.end()
        server.state.value.outageUntil = 0
        server.state.value.leadUntil = 0
        for receiver in receivers { receiver.isDown(until: 0) }
        guard await reviveIfDead() else { return }
        // Another process can still leave out a sink that has come back.
        if receivers.contains(where: \.isGone) || state.value.tuning.cap < settings.cap || settings.stores > 1 {
            for receiver in receivers { receiver.revive() }
            state.value.tuning.cap = settings.cap
            guard await restartAll() else { return }
        }
        guard await serveAll() else { return }
        let round = max(settings.interval, .seconds(30))
        var remaining = RemainingWork()
        var unreached: String?
        // One copy is enough, because nothing more is published.
        var feed = server.state.value.feed.rows
        // A small outbox with a long group interval drains a backlog a few rows at a time. Rows that are not counted as
        // remaining, such as repetitions for a returned identity, can come first.
        var (least, most, patience) = (Int.max, 0, 240)
        while patience > 0 {
            patience -= 1
            try? await clock.sleep(for: round)
            guard let agent = state.value.agent else { return }
            do {
                remaining = RemainingWork()
                for auditor in auditors { remaining.add(try await auditor.remaining(in: agent, of: &feed)) }
                if remaining.total < least || remaining.ended > most {
                    (least, most, patience) = (remaining.total, remaining.ended, 240)
                }
                guard remaining.total == 0 else { continue }
                for auditor in auditors { try await auditor.audit(agent, isSettled: true) }
                unreached = auditors.lazy.compactMap { $0.unreached(in: agent) }.first
                if unreached == nil { return }
            } catch {
                return violations.record(.lives, "the database: \(error.description)")
            }
        }
        if let unreached { violations.record(.settles, unreached) }
        if !remaining.lost.isEmpty {
            violations.record(.nothingLost, "\(remaining.lost.count) changes, such as \(remaining.lost[0])")
        }
        if let id = remaining.unpassed.first {
            violations.record(.cursorPasses, "\(remaining.unpassed.count) items, such as \(id)")
        }
        if remaining.open > 0 { violations.record(.settles, "\(remaining.open) rows are still unfinished") }
    }
}
