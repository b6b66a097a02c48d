import MockEndorser
import StarwatchCore
import Testing

@testable import Starwatch

@Suite struct AccountRuntimeTests {
    private final class Weak {
        weak var runtime: AccountRuntime?
        init(_ runtime: AccountRuntime) { self.runtime = runtime }
    }

    /// A fleet's process takes accounts up and lets go of them all the time.
    @Test func aProcessMakesRuntimesAndKeepsNoneThatIsDropped() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent(random: 0)
            var dropped: [Weak] = []
            for _ in 0..<200 {
                let runtime = AccountRuntime(of: nil, in: agent.process)
                _ = await runtime.dispatcher.pass()
                dropped.append(Weak(runtime))
            }
            #expect(dropped.allSatisfy { $0.runtime == nil })
            #expect(await agent.cycle().outcome == .bootstrapped)
        }
    }

    /// Otherwise each account would learn of a server's wait and of its failure by requests of its own.
    @Test func theAccountsOfAServerShareItsWaitAndItsCircuit() async throws {
        try await World.with(.canonical) { world in
            let agent = try await world.agent(random: 0)
            let second = AccountRuntime(of: nil, in: agent.process)
            let (own, others) = (agent.runtime.account.gate, second.account.gate)
            let now = world.clock.now
            await own.hold(until: now + .seconds(60), now: now)
            #expect(await others.hold(now: now)?.until == now + .seconds(60))
            for _ in 0..<100 where await own.begin(now: now) { await own.end(.network, now: now) }
            #expect(await others.shownCircuit == .open)
        }
    }
}
