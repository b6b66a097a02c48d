import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// Agents with an encrypted database.
@Suite(.timeLimit(.minutes(5))) struct UnreadableRowTests {
    private func run(_ body: (Bench, DatabaseOnDisk) async throws -> Void) async throws {
        try await Bench.run(
            sinks: ["first"],
            configure: { options, _, folder in
                try folder.write(MasterKey().text, to: "master.key")
                options.security.masterKeyFile = folder.path("master.key")
            }
        ) { bench in
            try await body(bench, DatabaseOnDisk(path: bench.folder.path("starwatch.db")))
        }
    }

    /// Changes a digit of the ciphertext.
    private func damage(_ disk: DatabaseOnDisk, _ column: String, row: Int64) throws {
        try disk.execute(
            """
            UPDATE notification_outbox SET \(column) = substr(\(column), 1, 20)
                || iif(substr(\(column), 21, 1) = 'A', 'B', 'A') || substr(\(column), 22) WHERE id = \(row)
            """
        )
    }

    @Test func oneIsADeadLetterWithAReasonAndAllOthersAreDelivered() async throws {
        try await run { bench, disk in
            let ids = await bench.fetch(4)
            let oldest = try #require(try await bench.rows().first)
            try damage(disk, "name", row: oldest.id)
            await bench.dispatch()
            #expect(try await bench.counts() == [.delivered: 3, .dead: 1])
            #expect(await bench.acknowledge().acknowledged == 3)
            #expect(try await bench.watermark() == ids.last)
            #expect(try await bench.imbalance() == 0)

            let dead = try await bench.rows(.dead)
            #expect(dead.map(\.reason) == [.unreadable] && dead.map(\.name) == ["(unreadable)"])
            #expect(await bench.agent.state().reasons == ["dead_letters"])
            let story = try await bench.agent.perform(ControlAPI.explain, "\(oldest.id)")
            let end = story.steps.last { $0.step == .dead }
            #expect(end?.reason == "unreadable" && end?.sentence == RowReason.unreadable.sentence())
            await #expect(throws: ControlError.self) {
                try await bench.agent.perform(ControlAPI.retryOutbox, RowSelection(ids: [oldest.id])).changed
            }
            #expect(try await bench.agent.perform(ControlAPI.retryOutbox, RowSelection(allOf: nil)).changed == 0)
            #expect(
                try await bench.agent.perform(
                    ControlAPI.discardOutbox,
                    DiscardSelection(RowSelection(ids: [oldest.id]))
                ).changed == 1
            )
            #expect(await bench.agent.state().reasons == [])
        }
    }

    @Test func rotationsWhilePollingCancelNoCycleAndMissNothing() async throws {
        try await run { bench, _ in
            var published: [String] = []
            for _ in 0..<10 {
                published += bench.mock.publish(count: 2)
                _ = try await bench.agent.perform(ControlAPI.rotateDataKeys)
                while try await !bench.agent.store.keys.reseal().isFinished {}
                let result = await bench.poll()
                #expect(result.outcome == .changed && result.new == 2)
            }
            await bench.dispatch()
            #expect(try await bench.rows(.delivered).map(\.jwtID).sorted() == published.sorted())
            #expect(
                await bench.sample(#"starwatch_poll_outcomes_total{poll="starred_projects",outcome="cancelled"}"#)
                    == "0"
            )
        }
    }

    /// A failure that comes back every time is shown all the time, whatever else succeeds.
    @Test func deliveriesThatFailKeepTheAgentDegraded() async throws {
        try await World.with(.canonical) { world in
            let fault = StoreFault()
            let agent = try await world.agent(dependencies: fault.dependencies)
            #expect(await agent.cycle().outcome == .bootstrapped)
            #expect(await agent.state().reasons == [])
            fault.fail(.claim)
            for _ in 0..<12 {
                _ = await agent.runtime.dispatcher.pass()
                try await agent.store.status.probe()
                _ = await agent.cycle()
                _ = await agent.runtime.acknowledger.pass()
                let status = await agent.state()
                #expect(status.reasons == ["store_busy"])
                #expect(status.headline == "Another program locks the database")
            }
            fault.fail()
            _ = await agent.runtime.dispatcher.pass()
            #expect(await agent.state().reasons == [])
        }
    }
}
