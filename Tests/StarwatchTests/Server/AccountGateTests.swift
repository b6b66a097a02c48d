import MockEndorser
import StarwatchCore
import StarwatchTransport
import Synchronization
import Testing

@testable import Starwatch
@testable import StarwatchPolling

/// The time for which an account is known at its server's gate.
@Suite(.timeLimit(.minutes(5))) struct AccountGateTests {
    /// Gives `body` a connection of the world's account to its server, and a function that sends a request over it.
    private static func run(
        _ body: (World, EndorserAPI, BusyTokens, _ send: () async -> Void) async throws -> Void
    ) async throws {
        try await World.with(.canonical) { world in
            let (own, tokens) = (try await world.agent().runtime.account.api, BusyTokens())
            let api = EndorserAPI(
                client: own.client,
                gate: own.gate,
                tokens: tokens,
                assumedDialect: .canonical,
                requester: own.requester,
                environment: own.environment
            )
            let request = EndorserRequest(.time, of: world.did, runID: "run_of_the_test")
            try await body(world, api, tokens) {
                _ = await api.answer(to: request, dialect: .canonical) { _, _ in .success(()) }
            }
        }
    }

    /// Whether a gate remembers what the account of a world has sent.
    private static func isKnown(_ world: World, to gate: Gate) async -> Bool {
        let sender = await gate.enter(world.did)
        let isKnown = sender.requests?.isLoaded == true
        await gate.leave(sender, now: world.clock.now)
        return isKnown
    }

    @Test func anAccountThatLeavesDuringARequestStaysUntilItsEnd() async throws {
        try await Self.run { world, api, tokens, send in
            let (gate, did, clock) = (api.gate, world.did, world.clock)
            let count = Count()
            tokens.work.withLock {
                $0 = {
                    let sender = await gate.enter(did)
                    await gate.leave(sender, now: clock.now)
                    await api.leave()
                    let next = await gate.enter(did)
                    #expect(next.requests === sender.requests)
                    await gate.leave(next, now: clock.now)
                    count.add()
                }
            }
            await send()
            #expect(count.value == 1)
            #expect(await !Self.isKnown(world, to: gate))
        }
    }

    @Test(arguments: [false, true]) func aRequestAfterTheEndLeavesNothingAtTheGate(hasEnded: Bool) async throws {
        try await Self.run { world, api, _, send in
            await api.leave(isEnd: hasEnded)
            await send()
            #expect(await Self.isKnown(world, to: api.gate) == !hasEnded)
        }
    }

    /// A host program can have read the identity before it was changed.
    @Test func aHostsRequestOfAFormerIdentityDoesNotReplaceThePresentOne() async throws {
        try await Self.run { world, api, _, send in
            await send()
            await api.stay(TestAccount.ethr)
            #expect(await Self.isKnown(world, to: api.gate))
            await api.leave()
            #expect(await !Self.isKnown(world, to: api.gate))
        }
    }
}
