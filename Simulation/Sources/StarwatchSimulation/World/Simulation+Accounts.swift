import Starwatch
import StarwatchCore
import StarwatchPolling
import StarwatchStore

/// The events of an agent that serves many accounts.
extension Simulation {
    /// Adds the accounts that are not served, and resumes those that are paused. It does nothing for an agent with an
    /// active identity.
    ///
    /// - Returns: `false` if the agent refuses them.
    func serveAll() async -> Bool {
        guard !settings.served.isEmpty else { return true }
        for _ in 0..<100 {
            guard await reviveIfDead(), let agent = state.value.agent else { return false }
            let isDone = await faults.pause { () async -> Bool in
                do {
                    for account in settings.served { try await serve(account, agent) }
                    return true
                } catch {
                    trace.note("not served: \(error)")
                    return false
                }
            }
            await look()
            if isDone { return true }
            try? await clock.sleep(for: .seconds(5))
        }
        violations.record(.lives, "the accounts cannot be served")
        return false
    }

    private func serve(_ account: DID, _ agent: Agent) async throws {
        if let known = try await agent.store.accounts.account(account) {
            guard known.status == .paused else { return }
            _ = try await agent.perform(ControlAPI.resumeAccount, IdentityRemoval(did: account.rawValue))
            return
        }
        let index = settings.served.firstIndex(of: account) ?? 0
        // Once the dialect is known, the agent refuses plans that the real server cannot have. A known account keeps its own.
        for stars in [settings.plans(of: index), nil] {
            let entry = AccountAdditions.Entry(did: account.rawValue, stars: stars)
            let answer = try await agent.perform(ControlAPI.addAccounts, AccountAdditions(accounts: [entry]))
            guard answer.accounts.first?.result == "refused" else {
                network.leases?.noteAddition(of: index)
                return
            }
        }
        throw ControlError(.invalid, "the agent refuses \(account)")
    }

    /// Publishes changes, and plays at most one event.
    func actOnAccounts() async {
        publish()
        let event = await nextEvent([
            (.crash, 0.02), (.restart, 0.007), (.reload, 0.01), (.clockStep, 0.02), (.suspend, 0.02), (.outage, 0.02),
            (.stars, 0.06), (.pressure, 0.01), (.manualPoll, 0.05), (.operatorEdit, 0.05), (.keyRotation, 0.03),
            (.unreadableItem, 0.02), (.flood, 0.02), (.serverClock, 0.03), (.accountPause, 0.05),
            (.accountRemoval, 0.02),
            (.takeover, 0.04), (.processStop, 0.12), (.partition, 0.08),
        ])
        guard let event, let agent = state.value.agent else { return }
        switch event {
        case .stars: await changeStars(agent, of: pick(.stars))
        case .manualPoll: await pollByHand(agent, for: pick(.manualPoll))
        case .operatorEdit: await edit(agent, of: pick(.operatorEdit))
        case .accountPause: await pause(agent, pick(.accountPause))
        case .accountRemoval: await remove(agent, pick(.accountRemoval))
        case .takeover: await takeOver(agent)
        case .processStop: await stopProcess()
        case .partition: await cutOff()
        default: await play(event, agent)
        }
    }

    private func pick(_ kind: FaultKind) -> Int { faults.number(kind, 0...settings.served.count - 1) }

    private func caller(_ index: Int) -> Operator {
        var caller = Operator.program
        caller.account = settings.served[index]
        return caller
    }

    private func changeStars(_ agent: Agent, of index: Int) async {
        let plans = settings.plans(of: index)
        let count = faults.number(.stars, 1...plans.count)
        let first = faults.number(.stars, 0...plans.count - 1)
        let some = (0..<count).map { plans[(first + $0) % plans.count] }
        let operation = [StarsChange.Operation.set, .add, .remove][faults.number(.stars, 0...2)]
        if operation != .add { server.state.value.unstarred.formUnion(plans) }
        let change = StarsChange(operation: operation, planIDs: some)
        _ = try? await agent.topics.perform(ControlAPI.changeStars, change, for: caller(index))
        await look()
    }

    /// Runs a poll on request; the caller stops waiting when the agent dies.
    private func pollByHand(_ agent: Agent, for index: Int) async {
        guard let process = state.value.process else { return }
        let (caller, run) = (caller(index), PollRun(agent.runtime.polls[0].name.rawValue))
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = try? await agent.topics.perform(ControlAPI.runPoll, run, for: caller) }
            group.addTask { await process.died.wait() }
            await group.next()
            group.cancelAll()
        }
    }

    private func edit(_ agent: Agent, of index: Int) async {
        let (caller, auditor) = (caller(index), auditors[index])
        var query = OutboxQuery()
        let isClaimed = faults.number(.operatorEdit, 0...3) == 0
        query.state = isClaimed ? "claimed" : "dead"
        let listed = try? await agent.topics.perform(ControlAPI.listOutbox, query, for: caller).entries
        guard let listed, !listed.isEmpty else { return }
        for receiver in receivers { receiver.excuseContents() }
        let some = listed.filter { _ in faults.number(.operatorEdit, 0...1) == 0 }
        if isClaimed || faults.number(.operatorEdit, 0...1) == 0 {
            auditor.noteDiscarded(some.map(\.jwtID))
            let selection = DiscardSelection(RowSelection(ids: some.map(\.id)))
            _ = try? await agent.topics.perform(ControlAPI.discardOutbox, selection, for: caller)
        } else if agent.runtime.polls.allSatisfy({ auditor.truth.value.bootstrapped[$0.name] != nil }) {
            // A retry also sends the other changes of the same notification, which a sink can already have.
            auditor.noteRetried(listed.map(\.jwtID))
            _ = try? await agent.topics.perform(ControlAPI.retryOutbox, RowSelection(ids: some.map(\.id)), for: caller)
        }
    }

    private func pause(_ agent: Agent, _ index: Int) async {
        let removal = IdentityRemoval(did: settings.served[index].rawValue)
        _ = try? await agent.perform(ControlAPI.pauseAccount, removal)
        try? await clock.sleep(for: .seconds(faults.number(.accountPause, 0...100)))
        // The next one to pause it finds it paused, otherwise.
        guard faults.number(.accountPause, 0...3) > 0, await reviveIfDead(), let agent = state.value.agent else {
            return
        }
        _ = try? await agent.perform(ControlAPI.resumeAccount, removal)
    }

    private func remove(_ agent: Agent, _ index: Int) async {
        // An account that begins anew gets every notification again.
        for receiver in receivers { receiver.excuseRepetitions() }
        for plan in settings.plans(of: index) { server.state.value.unstarred.insert(plan) }
        _ = try? await agent.perform(ControlAPI.removeAccount, IdentityRemoval(did: settings.served[index].rawValue))
        try? await clock.sleep(for: .seconds(faults.number(.accountRemoval, 0...100)))
        guard await reviveIfDead() else { return }
        for receiver in receivers { receiver.excuseRepetitions() }
        _ = await serveAll()
    }

    /// Lets another process take over the accounts at work while this one waits for the server and cannot renew its leases,
    /// and hold them for a while. Meanwhile the waits end, and nothing may be written for them here.
    private func takeOver(_ agent: Agent) async {
        guard let process = state.value.process else { return }
        let (first, second) = (faults.number(.takeover, 1...20), faults.number(.takeover, 31...50))
        let length = Duration.seconds(faults.number(.takeover, 10...60))
        network.stall(process, for: .seconds(first + second) + length / 3)
        server.publish(faults.number(.takeover, 1...3), of: settings.plans)
        await process.died.wait(for: .seconds(first), on: clock)
        process.loseLeases(true)
        await process.died.wait(for: .seconds(second), on: clock)
        var other: SecondOwner?
        if !process.isDead {
            other = await faults.pause {
                SecondOwner(at: disk.path(of: settings.stores)) { self.state.value.random.bytes(32) }
            }
        }
        if let other {
            await faults.pause { await other.claim(at: clock.now, for: length, hidden: plan.defect == .hideTakeover) }
            trace.note("taken over: \(other.accounts)")
        }
        process.loseLeases(false)
        await process.died.wait(for: .milliseconds(Int(length.wholeMilliseconds) * 9 / 10), on: clock)
        guard let other else { return }
        if !process.isDead, let row = other.changedRow() {
            violations.record(.fenced, "\(row) was written for an account that was taken over")
        }
        // Otherwise its leases end by themselves, as after a crash.
        let releases = faults.number(.takeover, 0...1) == 0 && !process.isDead
        let limits = GateLimits(requestsPerMinute: settings.requestsPerMinute, areOfAccounts: true)
        await faults.pause { await other.end(releasing: releases ? limits : nil, at: clock.now) }
    }
}
