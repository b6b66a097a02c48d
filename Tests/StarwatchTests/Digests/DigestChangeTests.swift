import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Digests whose neighbours or sinks go.
@Suite struct DigestChangeTests {
    private static let weekly = DigestName("weekly")!

    @Test func aDigestThatIsRemovedLeavesTheOtherOneArmedAndItComes() async throws {
        try await DigestBench.run(options: { options in
            var second = options.digests[0]
            second.name = Self.weekly
            second.title = "Weekly"
            options.digests.append(second)
        }) { (bench: Bench) async throws in
            await bench.settle()
            let before = try await bench.stored()
            #expect(before.map(\.row.occurrence.digest.rawValue).sorted() == ["daily", "weekly"])
            let kept = try #require(before.first { $0.row.occurrence.digest == Self.weekly })
            #expect(kept.row.arming != nil)
            await bench.agent.close()
            var options = bench.options
            options.digests.removeFirst()
            let agent = try await Agent(options: options, time: bench.clock, logSinks: [bench.log], random: { 0.5 })
            let service = try #require(agent.runtime.digests)
            bench.move(to: "12:54")
            _ = await service.pass()
            let armed = try await agent.store.digests.state(of: Bench.did, since: bench.clock.now).rows
            #expect(armed.map(\.token) == [kept.token] && armed.map(\.row.arming) == [kept.row.arming])
            bench.move(to: "13:00")
            #expect(await service.pass().fired == 1)
            _ = await agent.runtime.dispatcher.pass()
            #expect(await service.pass().shown == 1)
            let sent = try await agent.perform(ControlAPI.listSentNotifications, NotificationQuery()).notifications
            #expect(sent.map(\.id) == [kept.token] && sent.map(\.title) == ["Weekly"])
            await agent.close()
        }
    }

    @Test func aDigestWhoseSinksAreAllGoneSaysSoEveryTimeAndComesAgainAfterAReload() async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            await bench.settle()
            let slot = bench.agent.process.sinks[0]
            _ = slot.change { $0.record(.gone, at: bench.clock.now) }
            bench.move(to: "12:55")
            await bench.settle()
            bench.move(to: "13:00")
            #expect(await bench.arm().missing == 1)
            #expect(bench.count(.error) == 1)
            #expect(bench.log.lines.contains { $0.contains("digest.not_shown") && $0.contains("\"no_sink\"") })
            #expect(await bench.agent.state().digests["daily"]?.lastErrorCode == .noSink)
            // Its content is kept, and the next time is armed of it.
            let next = try #require(try await bench.stored().first { $0.row.status == .scheduled })
            #expect(next.row.arming?.text == .cached(DigestBench.day - .seconds(300)))
            try await bench.restart()
            bench.clock.advance(by: .days(1) - .seconds(300))
            await bench.settle()
            bench.clock.advance(by: .seconds(300))
            await bench.arm()
            await bench.dispatch()
            #expect(bench["phone"].seen.map(\.id) == [next.token])
        }
    }
}
