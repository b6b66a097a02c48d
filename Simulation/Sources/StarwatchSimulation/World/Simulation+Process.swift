import Starwatch
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

extension Simulation {
    /// Starts an agent on what is on the disk; tries again, as a supervisor does. `false` when it cannot be done.
    func start() async -> Bool {
        for _ in 0..<100 {
            let process = AgentProcess(disk: disk, faults: faults, trace: trace, meter: meter) {
                [meter, receivers, auditor] in
                meter.forget()
                for receiver in receivers { receiver.excuseRepetitions() }
                auditor.forgetWatermarks()
            }
            disk.failWhen(process.fail)
            // A new database, or the log of one that crashed.
            process.armDisk(10, passing: 60)
            do throws(AgentError) {
                let agent = try await makeAgent(process)
                state.value.starts += 1
                state.value.process = process
                state.value.agent = agent
                trace.note("start")
                // Before it does anything: what was there when the former agent ended must be there still.
                await look()
                await process.start(agent, clock: clock)
                return true
            } catch {
                trace.note("no start: \(error.message)")
                try? await clock.sleep(for: .seconds(5))
            }
        }
        violations.record(.lives, "no agent can be started")
        return false
    }

    private func makeAgent(_ process: AgentProcess) async throws(AgentError) -> Agent {
        var surroundings = AgentSurroundings()
        surroundings.http = ProcessTransport(network: network, process: process)
        let lane = Lane()
        surroundings.store = { options in
            options.queue = lane
            options.interrupt = { (operation, moment) throws(StoreError) in try process.interrupt(operation, moment) }
        }
        let options = settings.options(path: disk.path, secretFile: disk.secretFile, tuning: state.value.tuning)
        return try await Agent(
            options: options,
            time: clock,
            reload: { () throws(AgentError) in
                self.settings.options(
                    path: self.disk.path,
                    secretFile: self.disk.secretFile,
                    tuning: self.state.value.tuning
                )
            },
            logSinks: [],
            surroundings: surroundings,
            random: { self.state.value.random.unit() }
        )
    }

    /// Ends the agent, in order if it lives.
    func stop() async {
        guard let process = state.value.process, let agent = state.value.agent else { return }
        await process.stop(agent)
        disk.failWhen(nil)
        state.value.process = nil
        state.value.agent = nil
        for poll in agent.polls { state.value.cycles += Int(agent.metrics.polls.attempts[poll.label].value) }
        disk.clean()
        trace.note("stop")
    }

    /// Stops the agent, and starts the next after a while.
    func restart(after pause: Duration = .zero) async -> Bool {
        await stop()
        tamper(disk.path)
        try? await clock.sleep(for: pause)
        return await start()
    }

    /// Starts the next agent when this one has crashed.
    func reviveIfDead() async -> Bool {
        guard state.value.process?.isDead ?? true else { return true }
        return await restart(after: .milliseconds(state.value.chance.number(0...40_000)))
    }

    /// Learns what the database holds; what is unknown because it failed is learnt later.
    func look(isFull: Bool = false) async {
        guard let agent = state.value.agent else { return }
        await faults.pause {
            if plan.defect == .forgeWatermark { await forgeWatermark(agent) }
            do throws(StoreError) {
                if isFull { try await auditor.audit(agent) } else { try await auditor.look(at: agent) }
            } catch {
                trace.note("no look")
            }
        }
    }
}
