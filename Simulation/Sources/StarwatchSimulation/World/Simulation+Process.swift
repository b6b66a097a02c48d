import Starwatch
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

extension Simulation {
    /// Starts an agent on the current disk, with retries as a supervisor has; returns `false` if all fail.
    func start() async -> Bool {
        for _ in 0..<100 {
            let process = SimulatedProcess(disk: disk, faults: faults, trace: trace, meter: meter) {
                [meter, receivers, auditors] in
                meter.forget()
                for receiver in receivers { receiver.excuseRepetitions() }
                for auditor in auditors { auditor.forgetWatermarks() }
            }
            disk.failWhen(process.fail)
            // Opening makes a new database, or replays the log of a crashed agent.
            process.armDisk(10, passing: 60)
            do throws(AgentError) {
                let agent = try await makeAgent(process)
                state.value.starts += 1
                state.value.process = process
                state.value.agent = agent
                trace.note("start")
                // The check comes before the first poll: the state of the former agent must still exist.
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

    /// The same in every run, so that a seed is always the same run.
    static let masterKey = MasterKey(text: Array("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=".utf8))

    private func makeAgent(_ process: SimulatedProcess) async throws(AgentError) -> Agent {
        var dependencies = AgentDependencies()
        dependencies.keepsBlackBox = false
        dependencies.http = ProcessTransport(network: network, process: process)
        let lane = Lane()
        dependencies.store = { options in
            options.queue = lane
            options.masterKey = self.settings.isEncrypted ? Self.masterKey : nil
            options.newKey = { self.state.value.random.bytes(32) }
            options.interrupt = { (operation, moment) throws(StoreError) in try process.interrupt(operation, moment) }
        }
        return try await Agent(
            options: options(),
            time: clock,
            reload: { () throws(AgentError) in self.options() },
            logSinks: [],
            dependencies: dependencies,
            random: { self.state.value.random.unit() }
        )
    }

    private func options() -> AgentOptions {
        settings.options(
            path: disk.path,
            secretFile: disk.secretFile,
            masterKeyFile: disk.masterKeyFile,
            tuning: state.value.tuning
        )
    }

    /// Stops the agent, gracefully if it is alive.
    func stop() async {
        guard let process = state.value.process, let agent = state.value.agent else { return }
        await process.stop(agent)
        disk.failWhen(nil)
        state.value.process = nil
        state.value.agent = nil
        for poll in agent.runtime.polls { state.value.cycles += Int(agent.metrics.polls.attempts[poll.label].value) }
        disk.clean()
        trace.note("stop")
    }

    /// Stops the agent and starts the next one after a pause.
    func restart(after pause: Duration = .zero) async -> Bool {
        await stop()
        tamper(disk.path)
        flipBit()
        try? await clock.sleep(for: pause)
        return await start()
    }

    /// Flips a bit of a pending row, as a worn disk does.
    private func flipBit() {
        guard faults.mayStrike(.flippedBit, 0.6),
            let id = FlippedBit.flip(at: disk.path, pick: { faults.number(.flippedBit, 0...$0 - 1) })
        else { return }
        faults.happened(.flippedBit)
        for auditor in auditors { auditor.noteDamaged(id) }
        trace.note("flipped a bit of \(id)")
    }

    /// Starts the next agent if this one has crashed.
    func reviveIfDead() async -> Bool {
        guard state.value.process?.isDead ?? true else { return true }
        return await restart(after: .milliseconds(state.value.chance.number(0...40_000)))
    }

    /// Checks the database; if reading fails, the next call checks it.
    func look(isFull: Bool = false) async {
        guard let agent = state.value.agent else { return }
        await faults.pause {
            do throws(StoreError) {
                for auditor in auditors {
                    if isFull { try await auditor.audit(agent) } else { try await auditor.look(at: agent) }
                }
            } catch {
                trace.note("no look")
            }
        }
    }
}
