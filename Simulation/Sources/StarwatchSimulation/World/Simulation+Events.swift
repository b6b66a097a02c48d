import Starwatch
import StarwatchCore
import StarwatchStore

extension Simulation {
    /// Publishes changes, and plays at most one event.
    func act() async {
        publish()
        let event = await nextEvent([
            (.crash, 0.02), (.restart, 0.007), (.reload, 0.01), (.clockStep, 0.02), (.suspend, 0.02), (.outage, 0.02),
            (.identity, 0.02), (.signOut, 0.01), (.stars, 0.06), (.pressure, 0.01), (.manualPoll, 0.05),
            (.operatorEdit, 0.05), (.keyRotation, 0.03), (.unreadableItem, 0.02), (.flood, 0.02), (.serverClock, 0.03),
        ])
        guard let event, let agent = state.value.agent else { return }
        switch event {
        case .identity where settings.usesTokens:
            await change(agent, to: Settings.accounts[faults.number(.identity, 0...1)])
        case .signOut:
            await change(agent, to: nil)
            try? await clock.sleep(for: .seconds(faults.number(.signOut, 0...100)))
            guard await reviveIfDead(), let agent = state.value.agent else { return }
            await change(agent, to: Settings.accounts[0])
        case .stars: await changeStars(agent)
        case .manualPoll: await pollByHand(agent)
        case .operatorEdit: await edit(agent)
        default: await play(event, agent)
        }
    }

    /// Publishes changes, sometimes.
    func publish() {
        if state.value.chance.happens(0.5) {
            server.publish(state.value.chance.number(1...settings.burst), of: settings.plans)
            trace.note("published")
        }
        if settings.watchesOffers, state.value.chance.happens(0.2) {
            server.publish(state.value.chance.number(1...3), of: [SimulatedServer.offerPlan])
        }
    }

    /// Returns the event that happens now; checks everything sometimes if there is none.
    func nextEvent(_ kinds: [(FaultKind, Double)]) async -> FaultKind? {
        guard let event = faults.first(of: kinds), state.value.agent != nil else {
            if state.value.chance.happens(0.1) { await look(isFull: true) }
            return nil
        }
        trace.note("event \(event.name)")
        return event
    }

    /// Plays an event that any agent can have.
    func play(_ event: FaultKind, _ agent: Agent) async {
        switch event {
        case .crash:
            let process = state.value.process
            SimulationLoop.current?.interrupt(after: faults.number(.crash, 0...60)) { process?.die() }
            try? await clock.sleep(for: .milliseconds(faults.number(.crash, 1...3000)))
            process?.die()
        case .restart: _ = await restart(after: .milliseconds(faults.number(.restart, 0...20_000)))
        case .reload: await reload(agent)
        case .pressure:
            state.value.tuning.cap = faults.number(.pressure, 2...settings.cap)
            await reload(agent)
        case .clockStep:
            let size = [2, 30, 300, 7200][faults.number(.clockStep, 0...3)]
            clock.step(by: .seconds(faults.number(.clockStep, 0...1) == 0 ? size : -size))
            meter.forget()
        case .suspend: clock.suspend(for: .seconds([5, 100, 7200][faults.number(.suspend, 0...2)]))
        case .outage: server.state.value.outageUntil = clock.boot + Int64(faults.number(.outage, 1...400)) * 1_000_000
        case .keyRotation: _ = try? await agent.perform(ControlAPI.rotateDataKeys)
        case .unreadableItem:
            let isOffer = settings.watchesOffers && faults.number(.unreadableItem, 0...3) == 0
            server.publishUnreadable(of: isOffer ? [SimulatedServer.offerPlan] : settings.plans)
        case .flood:
            for receiver in receivers {
                receiver.isDown(until: clock.boot + Int64(faults.number(.flood, 1...400)) * 1_000_000)
            }
            server.publish(faults.number(.flood, 101...350), of: settings.plans)
        case .serverClock:
            server.lead(
                by: .seconds([5, 30, 120, 600][faults.number(.serverClock, 0...3)]),
                for: .seconds(faults.number(.serverClock, 1...400))
            )
            server.publish(faults.number(.serverClock, 1...3), of: settings.plans)
        default: break
        }
    }

    private func reload(_ agent: Agent) async {
        guard (try? await agent.perform(ControlAPI.reload)) != nil, agent.reloader.next != nil else { return }
        for receiver in receivers { receiver.revive() }
        _ = await restartAll()
    }

    private func change(_ agent: Agent, to account: DID?) async {
        // A new account, or the same one after a sign-out, gets every notification again.
        for receiver in receivers { receiver.excuseRepetitions() }
        _ = try? await agent.perform(ControlAPI.setIdentity, IdentityChoice(did: account?.rawValue))
        await look()
        guard auditor.account != nil, state.value.process?.isDead == false else { return }
        _ = try? await agent.perform(ControlAPI.changeStars, StarsChange(operation: .set, planIDs: settings.plans))
        await look()
    }

    private func changeStars(_ agent: Agent) async {
        let count = faults.number(.stars, 1...settings.plans.count)
        let first = faults.number(.stars, 0...settings.plans.count - 1)
        let plans = (0..<count).map { settings.plans[(first + $0) % settings.plans.count] }
        let operation = [StarsChange.Operation.set, .add, .remove][faults.number(.stars, 0...2)]
        if operation != .add { server.state.value.unstarred.formUnion(settings.plans) }
        _ = try? await agent.perform(ControlAPI.changeStars, StarsChange(operation: operation, planIDs: plans))
        await look()
    }

    private func edit(_ agent: Agent) async {
        var query = OutboxQuery()
        let isClaimed = faults.number(.operatorEdit, 0...3) == 0
        query.state = isClaimed ? "claimed" : "dead"
        guard let dead = try? await agent.perform(ControlAPI.listOutbox, query).entries, !dead.isEmpty else { return }
        for receiver in receivers { receiver.excuseContents() }
        let some = dead.filter { _ in faults.number(.operatorEdit, 0...1) == 0 }
        if isClaimed || faults.number(.operatorEdit, 0...1) == 0 {
            auditor.noteDiscarded(some.map(\.jwtID))
            _ = try? await agent.perform(ControlAPI.discardOutbox, DiscardSelection(RowSelection(ids: some.map(\.id))))
        } else if agent.runtime.polls.allSatisfy({ auditor.truth.value.bootstrapped[$0.name] != nil }) {
            // A poll that starts again after a sign-out announces everything again, also what is retried before.
            // A retry also sends the other changes of the same notification, which a sink can already have.
            auditor.noteRetried(dead.map(\.jwtID))
            _ = try? await agent.perform(ControlAPI.retryOutbox, RowSelection(ids: some.map(\.id)))
        }
    }

    /// Runs a poll on request; the caller stops waiting when the agent dies.
    private func pollByHand(_ agent: Agent) async {
        guard let process = state.value.process else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                _ = try? await agent.perform(ControlAPI.runPoll, PollRun(agent.runtime.polls[0].name.rawValue))
            }
            group.addTask { await process.died.wait() }
            await group.next()
            group.cancelAll()
        }
    }
}
