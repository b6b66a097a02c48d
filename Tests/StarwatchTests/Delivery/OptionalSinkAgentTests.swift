import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// One dead sink and the others: what stops, what does not, and what the status says of it.
@Suite struct OptionalSinkAgentTests {
    /// Runs `body` with the sinks `log` and `hook`, whose settings `change` can change.
    private func withHook(
        _ change: @escaping (inout SinkOptions) -> Void = { _ in },
        outbox: Int = 1000,
        _ body: (Bench) async throws -> Void
    ) async throws {
        try await Bench.run(
            sinks: ["log", "hook"],
            configure: { options, _, _ in
                change(&options.delivery.sinks[1])
                options.outbox.maxUndelivered = outbox
            },
            body
        )
    }

    /// Delivers until `time` has passed.
    private func dispatch(_ bench: Bench, for time: Duration) async {
        let end = bench.clock.now + time
        while bench.clock.now < end {
            let next = await bench.dispatch().next ?? end
            bench.clock.advance(by: min(max(next - bench.clock.now, .milliseconds(1)), end - bench.clock.now))
        }
        await bench.dispatch()
    }

    @Test func theHeadlineOfADeadRequiredSinkSaysThatPollingStopped() async throws {
        try await withHook(outbox: 10) { bench async throws in
            bench["hook"].answer(.down)
            await bench.fetch(8)
            await dispatch(bench, for: .seconds(13 * 60))
            #expect(await bench.poll().skip == .backpressure)
            let status = await bench.agentStatus()
            #expect(status.headline == "Polling stopped: sink hook down for 13 min, outbox 80 % full")
            #expect(status.reasons == ["backpressure", "sink_unreachable:hook"])
            bench["hook"].answer(.ok)
            await dispatch(bench, for: .seconds(60))
            #expect(await bench.agentStatus().headline == nil)
        }
    }

    @Test func anOptionalSinkThatIsDownHoldsUpNothingAndGetsEverythingLater() async throws {
        try await withHook({ $0.isRequired = false }, outbox: 10) { bench async throws in
            bench["hook"].answer(.down)
            for _ in 0..<4 {
                await bench.fetch(6)
                await dispatch(bench, for: .seconds(20))
                await bench.acknowledge()
            }
            #expect(try await bench.counts() == [.acknowledged: 24])
            // An id begins with its second. Ids of one second have no order.
            let newest = try await bench.rows().map(\.jwtID).max()
            let watermark = try await bench.watermark()
            #expect(watermark?.prefix(10) == newest?.prefix(10))
            let status = await bench.agentStatus()
            #expect(status.headline == "Sink hook down for 1 min 20 s")
            #expect(status.outbox.backpressure == false)
            bench["hook"].answer(.ok)
            await dispatch(bench, for: .seconds(120))
            let delivered = Set(bench["log"].seen.map(\.id))
            #expect(Set(bench["hook"].seen.map(\.id)) == delivered)
            #expect(delivered.count == 4)
            #expect(await bench.agentStatus().status == .healthy)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func anOptionalSinkIsGivenUpAfterItsLimitAndCanBeRetried() async throws {
        try await withHook({ ($0.isRequired, $0.giveUpAfter) = (false, .seconds(300)) }) { bench async throws in
            bench["hook"].answer(.down)
            await bench.fetch(2)
            await dispatch(bench, for: .seconds(299))
            await bench.acknowledge()
            #expect(bench.attempts("hook", .givenUp) == 0)
            await dispatch(bench, for: .seconds(2))
            #expect(bench.attempts("hook", .givenUp) == 1)
            let series = #"starwatch_delivery_attempts_total{sink="hook",result="given_up"}"#
            #expect(await bench.sample(series) == "1")
            let tries = bench["hook"].seen.count
            await dispatch(bench, for: .seconds(600))
            #expect(bench["hook"].seen.count == tries)

            let letters = try await bench.rows(.dead)
            #expect(letters.map(\.state) == [.acknowledged, .acknowledged])
            #expect(letters.map(\.undeliveredTo) == [["hook"], ["hook"]])
            let status = await bench.agentStatus()
            #expect(status.outbox.givenUp == 1)
            #expect(status.outbox.dead == 0)
            #expect(status.reasons.contains("dead_letters"))

            bench["hook"].answer(.ok)
            #expect(
                try await bench.agent.perform(ControlAPI.retryOutbox, RowSelection(ids: letters.map(\.id))).changed == 2
            )
            await dispatch(bench, for: .seconds(61))
            #expect(bench["hook"].seen.count == tries + 1)
            #expect(bench["log"].seen.count == 1)
            #expect(await bench.agentStatus().status == .healthy)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func aRequiredSinkWithALimitFreesTheOutboxAndNeverAcknowledges() async throws {
        try await withHook({ $0.giveUpAfter = .seconds(60) }, outbox: 10) { bench async throws in
            bench["hook"].answer(.down)
            await bench.fetch(8)
            #expect(await bench.poll().skip == .backpressure)
            await dispatch(bench, for: .seconds(61))
            #expect(try await bench.counts() == [.dead: 8])
            #expect(await bench.acknowledge().acknowledged == 0)
            #expect(bench.mock.requestCount(of: .acknowledge) == 0)
            #expect(await bench.poll().skip == nil)
            bench["hook"].answer(.ok)
            #expect(try await bench.agent.perform(ControlAPI.retryOutbox, RowSelection(allOf: nil)).changed == 8)
            await dispatch(bench, for: .seconds(61))
            #expect(try await bench.counts() == [.delivered: 8])
            #expect(bench["log"].seen.count == 1)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func claimedRowsOfADeadSinkAreDiscardedSoThatPollingResumes() async throws {
        try await withHook(outbox: 10) { bench async throws in
            bench["hook"].answer(.down)
            await bench.fetch(8)
            await bench.dispatch()
            #expect(await bench.poll().skip == .backpressure)
            let rows = try await bench.rows(.claimed).map(\.id)
            #expect(
                try await bench.agent.perform(ControlAPI.discardOutbox, DiscardSelection(RowSelection(ids: [rows[0]])))
                    .changed == 1
            )
            let poll = bench.options.polls[0].name.rawValue
            #expect(
                try await bench.agent.perform(
                    ControlAPI.discardOutbox,
                    DiscardSelection(RowSelection(allOf: poll), in: .claimed)
                ).changed == 7
            )
            #expect(try await bench.counts() == [.cancelled: 8])
            #expect(await bench.poll().outcome == .unchanged)
            #expect(await bench.acknowledge().watermarkMoved)
            await dispatch(bench, for: .seconds(60))
            #expect(bench["hook"].seen.count == 1)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func aSinkThatRejectsEverythingMakesTheAgentUnhealthyUntilItAcceptsSomething() async throws {
        try await withHook { bench async throws in
            bench["hook"].answer(.refused)
            await bench.fetch(1)
            await bench.dispatch()
            #expect(await bench.agentStatus().status == .healthy)
            await dispatch(bench, for: .seconds(10))
            let status = await bench.agentStatus()
            #expect(status.reasons == ["dead_letters", "sink_rejecting:hook"])
            #expect(status.headline == "Sink hook rejects everything; 1 more problem")
            bench["hook"].answer(.ok)
            await bench.fetch(1)
            await bench.dispatch()
            #expect(await bench.agentStatus().reasons == ["dead_letters"])
        }
    }
}

extension Bench {
    /// The status with the bench's own sinks, whose circuits the agent's sinks do not see.
    func agentStatus() async -> AgentStatus {
        var reporter = agent.topics.status
        reporter.sinks = slots
        return await reporter.status()
    }
}
