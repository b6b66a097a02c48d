import MockEndorser
import StarwatchCore
import StarwatchPolling
import StarwatchStore
import Synchronization
import Testing

@testable import Starwatch

/// Visits of accounts whose server takes no requests.
@Suite(.timeLimit(.minutes(5))) struct WaitingServerTests {
    @Test func anAccountIsNotClaimedWhileItsServerWaits() async throws {
        try await Crowd.with(.endorser, accounts: 2) { crowd in
            let (agent, clock) = (crowd.agent, crowd.world.clock)
            try await crowd.pause(0)
            crowd.world.mock.script(.rateLimited(retryAfter: .seconds(3600)), at: .plansChanged)
            #expect(await agent.visitAll(after: .seconds(61), on: clock) == 1)
            try await crowd.resume(0)
            let due = try #require(try await agent.store.accounts.account(Crowd.did(0))).dueAt
            #expect(await agent.visitAll(after: .seconds(1800), on: clock) == 0)
            let status = try await agent.perform(ControlAPI.status)
            #expect(status.accounts?.due == 0 && status.accounts?.oldestDue == nil)
            #expect(!status.reasons.contains("accounts_late"))
            // It keeps its place in the line.
            #expect(try await agent.store.accounts.account(Crowd.did(0))?.dueAt == due)
            clock.advance(by: .seconds(1801))
            let leases = try #require(await agent.fleet?.claim())
            #expect(leases.map(\.account) == [Crowd.did(0), Crowd.did(1)])
        }
    }

    @Test func anAccountThatWaitedForTheServerIsNotLate() async throws {
        try await Crowd.with(.endorser, accounts: 2) { crowd in
            try await crowd.pause(0)
            crowd.world.mock.script(.rateLimited(retryAfter: .seconds(3600)), at: .plansChanged)
            await crowd.round()
            try await crowd.resume(0)
            let delays = "starwatch_fleet_visit_delay_seconds_sum"
            let before = await crowd.metric(delays)
            crowd.world.clock.advance(by: .seconds(3600))
            #expect(try await crowd.agent.perform(ControlAPI.status).reasons.isEmpty)
            await crowd.round(after: .zero)
            #expect(await crowd.metric(delays) - before < 10)
        }
    }

    @Test func aServerThatWasDownIsProbedByOneAccount() async throws {
        try await Crowd.with(.endorser, accounts: 3) { crowd in
            let (agent, clock) = (crowd.agent, crowd.world.clock)
            let (service, gate) = (try #require(agent.fleet), agent.runtime.account.gate)
            crowd.world.mock.setStickyFault(.status(500), at: .plansChanged)
            while await gate.circuit.state == .closed { await crowd.round() }
            #expect(await service.claim().isEmpty)
            clock.advance(by: .seconds(3600))
            let probes = await service.claim()
            #expect(probes.count == 1)
            #expect(await service.claim().isEmpty)
            crowd.world.mock.clearFaults()
            for lease in probes { await service.visit(lease) }
            #expect(await gate.circuit.state == .closed)
            #expect(await service.claim().count == 2)
        }
    }

    /// The delivery of the account whose visit probed can take as long as its sinks like.
    @Test(.timeLimit(.minutes(5))) func theNextProbeDoesNotWaitForADelivery() async throws {
        try await Crowd.with(.endorser, accounts: 3) {
            let hook = SinkOptions.Kind.webhook(url: $0.server.url + "/hook", secretFile: nil, timeout: .seconds(60))
            $0.delivery.sinks = [SinkOptions(name: "hook", kind: hook)]
        } _: { crowd in
            let (agent, clock, mock) = (crowd.agent, crowd.world.clock, crowd.world.mock)
            let (service, gate) = (try #require(agent.fleet), agent.runtime.account.gate)
            mock.setStickyFault(.status(503), at: .hook)
            crowd.publish([0])
            await crowd.round()
            mock.setStickyFault(.status(500), at: .plansChanged)
            while await gate.circuit.state == .closed { await crowd.round() }
            clock.advance(by: .seconds(3600))
            // The others have nothing to deliver, for which they would be claimed meanwhile.
            for index in [1, 2] { try await crowd.pause(index) }
            let probe = try #require(await service.claim().first)
            for index in [1, 2] { try await crowd.resume(index) }
            mock.setStickyFault(.neverAnswer, at: .hook)
            mock.forgetRequests()
            let visit = Task { await service.visit(probe) }
            try await mock.waitForRequests(1, to: .hook)
            try await mock.waitForRequests(1, to: .plansChanged)
            let runtime = try #require(agent.fleet?.residents.runtime(of: probe.account))
            while runtime.pollService.isPolling { await Task.yield() }
            // Its probe failed, and the next one is due.
            clock.advance(by: .seconds(3600))
            var next = await service.claim()
            while next.isEmpty {
                await Task.yield()
                next = await service.claim()
            }
            #expect(next.count == 1)
            visit.cancel()
            await visit.value
        }
    }

    @Test func changesAreDeliveredWhileTheServerWaits() async throws {
        try await Crowd.with(.endorser, accounts: 2) {
            let hook = SinkOptions.Kind.webhook(url: $0.server.url + "/hook", secretFile: nil, timeout: .seconds(60))
            $0.delivery.sinks = [SinkOptions(name: "hook", kind: hook)]
        } _: { crowd in
            let (agent, clock) = (crowd.agent, crowd.world.clock)
            crowd.world.mock.setStickyFault(.status(503), at: .hook)
            crowd.publish(0..<1)
            await crowd.round()
            let waiting = try await agent.rows([.pending, .claimed])
            #expect(!waiting.isEmpty)
            crowd.world.mock.script(.rateLimited(retryAfter: .seconds(36_000)), at: .plansChanged)
            await crowd.round()
            #expect(await agent.runtime.account.gate.hold(now: clock.now) != nil)
            crowd.world.mock.clearFaults()
            await crowd.round(after: .seconds(7200))
            let left = try await agent.rows([.pending, .claimed])
            #expect(left.isEmpty)
            #expect(await agent.runtime.account.gate.hold(now: clock.now) != nil)
        }
    }

    @Test func anOperatorWhoEndsTheWaitWakesTheVisits() async throws {
        try await Crowd.with(.endorser, accounts: 2) { crowd in
            let (agent, world) = (crowd.agent, crowd.world)
            // The poll of the account that was throttled is due with the clock's next minute only.
            try await crowd.pause(0)
            world.mock.script(.rateLimited(retryAfter: .seconds(3600)), at: .plansChanged)
            await crowd.round()
            try await crowd.resume(0)
            world.clock.setMode(.waiting)
            let service = try #require(agent.fleet)
            let task = Task { try await service.run() }
            await world.clock.sleepers(atLeast: 1)
            let before = crowd.requests
            _ = try await agent.perform(ControlAPI.clearServerWait)
            while crowd.requests == before { await Task.yield() }
            task.cancel()
            try await task.value
        }
    }
}

extension Crowd {
    fileprivate func pause(_ index: Int) async throws {
        _ = try await agent.perform(ControlAPI.pauseAccount, IdentityRemoval(did: Self.did(index).rawValue))
    }

    fileprivate func resume(_ index: Int) async throws {
        _ = try await agent.perform(ControlAPI.resumeAccount, IdentityRemoval(did: Self.did(index).rawValue))
    }
}
