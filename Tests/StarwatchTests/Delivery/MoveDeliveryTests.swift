import StarwatchCore
import StarwatchStore
import StarwatchTestKit
import Testing

@testable import Starwatch

/// An account that moves to another agent while a sink has a notification of it.
@Suite struct MoveDeliveryTests {
    private struct Unexpected: Error {}

    /// Whether an export waits for a sink.
    private static func mustWait(_ store: Store, at now: Timestamp) async throws -> Bool {
        switch try await store.moves.handOut(nil, isTrial: false, now: now) {
        case .delivering: true
        case .text: false
        default: throw Unexpected()
        }
    }

    /// A sink's timeout can be longer than the lease of its notification.
    @Test func anAttemptLongerThanItsLeaseIsWaitedFor() async throws {
        try await Bench.run(sinks: ["slow"]) { bench in
            let (store, clock, waits) = (bench.agent.store, bench.clock, Count())
            bench["slow"].before { _ in
                clock.advance(by: .seconds(600))
                if (try? await Self.mustWait(store, at: clock.now)) == true { waits.add() }
            }
            await bench.fetch(1)
            await bench.dispatch()
            #expect(waits.value == 1)
            #expect(try await bench.rows(.delivered).count == 1)
            let mustWait = try await Self.mustWait(store, at: clock.now)
            #expect(!mustWait)
        }
    }

    /// The notification goes with the account, and its new agent sends it.
    @Test func noFurtherNotificationIsSentWhileTheAccountLeaves() async throws {
        try await Bench.run(sinks: ["slow"]) { bench in
            bench["slow"].script(.down, .down)
            for _ in 0..<2 {
                await bench.fetch(1)
                await bench.dispatch()
            }
            bench.clock.advance(by: .seconds(600))
            bench["slow"].forget()
            let (store, clock) = (bench.agent.store, bench.clock)
            bench["slow"].before { _ in _ = try? await Self.mustWait(store, at: clock.now) }
            await bench.dispatch()
            #expect(bench["slow"].seen.count == 1)
        }
    }
}
