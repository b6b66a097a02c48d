import Foundation
import Starwatch
import StarwatchCore
import StarwatchStore
import StarwatchTransport

/// One run: a server, sinks, a disk, a clock, and the agents that live and die there.
package final class Simulation: Sendable {
    struct State {
        var tuning: Tuning
        var process: AgentProcess?
        var agent: Agent?
        var cycles = 0
        var starts = 0
        var chance: Chance
        var random: Chance
        var identifiers: Chance
        var isDone = false
    }

    let plan: SimulationPlan
    let settings: Settings
    let clock: SimulatedClock
    let faults: FaultInjector
    let trace: Trace
    let violations: Violations
    let server: SimulatedServer
    let receivers: [Receiver]
    let network: SimulatedNetwork
    let meter: RequestMeter
    let auditor: Auditor
    let disk: SimulatedDisk
    let state: Confined<State>
    /// Does something to the database while no agent runs.
    let tamper: @Sendable (String) -> Void

    private init(_ plan: SimulationPlan, lines: Int, tamper: @escaping @Sendable (String) -> Void) throws {
        self.plan = plan
        self.tamper = tamper
        let settings = Settings(seed: plan.seed)
        self.settings = settings
        clock = SimulatedClock()
        trace = Trace(clock: clock, kept: lines)
        violations = Violations(trace: trace)
        faults = FaultInjector(
            seed: plan.seed,
            kinds: settings.kinds.subtracting(plan.without),
            limit: plan.limit,
            intensity: settings.intensity
        )
        server = SimulatedServer(
            seed: plan.seed,
            settings: settings,
            clock: clock,
            faults: faults,
            violations: violations,
            lostEvery: plan.defect == .loseItems ? 5 : nil
        )
        receivers = (0..<settings.sinkCount).map { [faults, violations] in
            Receiver(index: $0, faults: faults, violations: violations)
        }
        meter = RequestMeter(settings: settings, clock: clock, violations: violations)
        network = SimulatedNetwork(
            seed: plan.seed,
            clock: clock,
            server: server,
            receivers: receivers,
            meter: meter,
            trace: trace,
            defect: plan.defect
        )
        auditor = Auditor(network: network, clock: clock)
        disk = try SimulatedDisk(isEmpty: settings.isDiskEmpty)
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

    /// Simulates on the calling thread until the run is over.
    ///
    /// - Parameters:
    ///   - lines: How many lines of what happened last are kept.
    ///   - tamper: Gets the database's path whenever no agent runs: plants a defect in the file.
    /// - Throws: When no folder for the database can be made.
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

    /// More steps than any honest run takes: something goes round in circles.
    private static let mostSteps = 5_000_000

    private func drive(_ loop: SimulationLoop) {
        Task {
            // Identifiers are keys of tables, and so decide how many pages a transaction writes.
            let words = RandomID.Words { self.state.value.identifiers.next() }
            await RandomID.$words.withValue(words) { await self.live() }
            self.state.value.isDone = true
        }
        while !state.value.isDone {
            if loop.step() {
                guard loop.steps < Self.mostSteps else {
                    return violations.record(.lives, "it goes round in circles")
                }
            } else if !clock.advance() {
                return violations.record(.lives, "everybody waits, and nobody for a time")
            }
        }
        // What is left are the ends of tasks nobody waits for.
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
        guard await start() else { return }
        let end = Int64(plan.cycles) * settings.interval.wholeMilliseconds * 1000
        while clock.boot < end, violations.isEmpty {
            let pause = state.value.chance.number(1...15) * Int(settings.interval.wholeMilliseconds)
            await state.value.process?.died.wait(for: .milliseconds(pause), on: clock)
            guard await reviveIfDead() else { return }
            await act()
            guard await reviveIfDead() else { return }
        }
        if violations.isEmpty { await settle() }
        await stop()
    }

    /// Makes everything well, and waits until all is delivered and acknowledged, for as long as it goes on becoming less.
    private func settle() async {
        faults.end()
        server.state.value.outageUntil = 0
        guard await reviveIfDead() else { return }
        if receivers.contains(where: \.isGone) || state.value.tuning.cap < settings.cap {
            for receiver in receivers { receiver.revive() }
            state.value.tuning.cap = settings.cap
            guard await restart() else { return }
        }
        let round = max(settings.interval, .seconds(30))
        var missing: (lost: [String], open: Int, ended: Int) = ([], 0, 0)
        var unreached: String?
        // From here on nothing is published, so that one copy is enough.
        var feed = server.state.value.feed.rows
        // A small outbox before a long group interval takes in a backlog a few rows at a time, and what nobody misses,
        // or a returned identity is told again, may come first.
        var (least, most, patience) = (Int.max, 0, 240)
        while patience > 0 {
            patience -= 1
            try? await clock.sleep(for: round)
            guard let agent = state.value.agent else { return }
            do {
                missing = try await auditor.missing(in: agent, of: &feed)
                if missing.lost.count + missing.open < least || missing.ended > most {
                    (least, most, patience) = (missing.lost.count + missing.open, missing.ended, 240)
                }
                guard missing.lost.isEmpty, missing.open == 0 else { continue }
                try await auditor.audit(agent)
                unreached = auditor.unreached(in: agent)
                if unreached == nil { return }
            } catch {
                return violations.record(.lives, "the database: \(error.description)")
            }
        }
        if let unreached { violations.record(.settles, unreached) }
        if !missing.lost.isEmpty {
            violations.record(.nothingLost, "\(missing.lost.count) changes, such as \(missing.lost[0])")
        }
        if missing.open > 0 { violations.record(.settles, "\(missing.open) rows are still under way") }
    }
}
