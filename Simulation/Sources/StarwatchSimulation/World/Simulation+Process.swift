import Starwatch
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import StarwatchTransport

extension Simulation {
    /// Starts all processes; returns `false` if one cannot be started.
    func startAll() async -> Bool {
        for number in 0..<settings.stores {
            guard await start(number) else { return false }
        }
        return true
    }

    /// The processes that run beside one, in the order of their numbers.
    func others(than number: Int) -> [SimulatedProcess] {
        state.value.running.values.map(\.process).filter { $0.number != number && !$0.isDead }
            .sorted { $0.number < $1.number }
    }

    private func makeProcess(_ number: Int) -> SimulatedProcess {
        let clock = ProcessClock(clock, isBlind: plan.defect == .ignoreLease)
        return SimulatedProcess(number, disk: disk, faults: faults, trace: trace, network: network, clock: clock) {
            losesPower in
            let others = self.others(than: number)
            guard losesPower else { return !others.isEmpty }
            // A power loss can undo the last writes.
            self.meter.forget()
            for receiver in self.receivers { receiver.excuseRepetitions() }
            for auditor in self.auditors { auditor.forgetWatermarks() }
            for other in others { other.end(losesPower: true) }
            return false
        }
    }

    /// Starts an agent on the current disk, with retries as a supervisor has; returns `false` if all fail.
    private func start(_ number: Int) async -> Bool {
        for _ in 0..<100 {
            let process = makeProcess(number)
            disk.failWhen(of: number, process.fail)
            // Opening makes a new database, or replays the log of a crashed agent.
            process.armDisk(10, passing: 60)
            do throws(AgentError) {
                let agent = try await makeAgent(process)
                state.value.starts += 1
                state.value.running[number] = Running(process: process, agent: agent)
                state.value.focus = number
                trace.note("start")
                // The check comes before the first poll: the state of the former agent must still exist.
                await look()
                await process.start(agent)
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
        dependencies.store = { options in
            // A real access that stalls is no event of the simulated world.
            options.patience = .seconds(1_000_000)
            options.queue = process.lane
            options.fencesWrites = self.plan.defect != .dropFence
            options.masterKey = self.settings.isEncrypted ? Self.masterKey : nil
            options.newKey = { self.state.value.random.bytes(32) }
            options.interrupt = { (operation, moment) throws(StoreError) in try process.interrupt(operation, moment) }
        }
        return try await Agent(
            options: options(of: process.number),
            time: process.clock,
            reload: { () throws(AgentError) in self.options(of: process.number) },
            logSinks: [],
            dependencies: dependencies,
            random: { self.state.value.random.unit() }
        )
    }

    private func options(of number: Int) -> AgentOptions {
        settings.options(
            path: disk.path(of: number),
            secretFile: disk.secretFile,
            masterKeyFile: disk.masterKeyFile,
            tuning: state.value.tuning
        )
    }

    /// Stops all agents.
    func stopAll() async {
        for number in 0..<settings.stores { await stop(number) }
    }

    /// Stops an agent, gracefully if it is alive.
    private func stop(_ number: Int) async {
        guard let (process, agent) = state.value.running[number].map({ ($0.process, $0.agent) }) else { return }
        await process.stop(agent)
        disk.failWhen(of: number, nil)
        state.value.running[number] = nil
        for poll in agent.runtime.polls { state.value.cycles += Int(agent.metrics.polls.attempts[poll.label].value) }
        disk.clean()
        trace.note("stop")
    }

    /// Stops the agent that has the focus, and starts the next one after a pause.
    func restart(after pause: Duration = .zero) async -> Bool {
        await restart(state.value.focus, after: pause)
    }

    private func restart(_ number: Int, after pause: Duration) async -> Bool {
        await stop(number)
        touchDisk()
        try? await clock.sleep(for: pause)
        return await start(number)
    }

    /// Stops all agents, and starts the next ones.
    func restartAll() async -> Bool {
        await stopAll()
        touchDisk()
        return await startAll()
    }

    /// Changes the disk if no agent runs.
    private func touchDisk() {
        guard state.value.running.isEmpty else { return }
        tamper(disk.path)
        flipBit()
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

    /// Starts the next agent of each one that has crashed.
    func reviveIfDead() async -> Bool {
        for number in 0..<settings.stores where state.value.running[number]?.process.isDead ?? true {
            let pause = Duration.milliseconds(state.value.chance.number(0...40_000))
            guard await restart(number, after: pause) else { return false }
        }
        return true
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
