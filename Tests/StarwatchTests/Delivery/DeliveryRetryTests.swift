import MockEndorser
import StarwatchCore
import StarwatchStore
import Synchronization
import Testing

@testable import Starwatch

/// Notifications that a sink does not accept (semantics: outbox, dispatch).
@Suite struct DeliveryRetryTests {
    @Test func aRetryIsTheSameNotificationAndGoesOnlyToTheSinkThatFailed() async throws {
        try await Bench.run(sinks: ["first", "second"]) { bench async throws in
            bench["second"].script(.refused)
            await bench.fetch(3)
            let pass = await bench.dispatch()
            #expect(pass.delivered == 0)
            #expect(pass.next == bench.clock.now + .seconds(1))
            #expect(try await bench.counts() == [.claimed: 3])

            bench.clock.advance(by: .milliseconds(999))
            await bench.dispatch()
            #expect(bench["second"].seen.count == 1)
            bench.clock.advance(by: .milliseconds(1))
            #expect(await bench.dispatch().delivered == 3)

            let tries = bench["second"].seen
            #expect(tries.count == 2)
            #expect(tries[0].id == tries[1].id)
            #expect(tries[0].payload == tries[1].payload)
            #expect(bench["first"].seen == [tries[0]])
            #expect(try await bench.counts() == [.delivered: 3])
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func aSinkThatIsDownIsTriedLessAndLessAndCostsNoAttempt() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let (sink, clock) = (bench["first"], bench.clock)
            let tries = Mutex<[Timestamp]>([])
            sink.before { _ in tries.withLock { $0.append(clock.now) } }
            sink.answer(.down)
            await bench.fetch(1)
            var circuit: [CircuitState] = []
            for _ in 0..<11 {
                let next = try #require(await bench.dispatch().next)
                circuit.append(bench.slot("first").circuit.state)
                clock.advance(by: next - clock.now)
            }

            let times = tries.withLock { $0 }
            #expect(zip(times, times.dropFirst()).map { ($1 - $0).inSeconds } == [1, 2, 4, 8, 5, 10, 20, 40, 60, 60])
            #expect(circuit.prefix(4).allSatisfy { $0 == .closed })
            #expect(circuit.dropFirst(4).allSatisfy { $0 == .open })
            #expect(await bench.sample(#"starwatch_circuit_state{target="first"}"#) == "2")
            #expect(try await bench.rows().map(\.attempts) == [0])
            #expect(bench.attempts("first", .unavailable) == 11)

            sink.answer(.ok)
            #expect(await bench.dispatch().delivered == 1)
            #expect(bench.slot("first").circuit.state == .closed)
            #expect(await bench.sample(#"starwatch_circuit_state{target="first"}"#) == "0")
            #expect(Set(sink.seen.map(\.id)).count == 1)
            #expect(Set(sink.seen.map(\.payload)).count == 1)
        }
    }

    @Test func anOpenCircuitHoldsNewNotificationsButNotOtherSinks() async throws {
        try await Bench.run(sinks: ["first", "second"]) { bench async throws in
            bench["second"].answer(.down)
            await bench.fetch(1)
            for _ in 0..<5 {
                let next = try #require(await bench.dispatch().next)
                if bench["second"].seen.count < 5 { bench.clock.advance(by: next - bench.clock.now) }
            }
            #expect(bench.slot("second").circuit.state == .open)

            await bench.fetch(1)
            await bench.dispatch()
            #expect(bench["first"].seen.count == 2)
            #expect(bench["second"].seen.count == 5)
            #expect(try await bench.counts() == [.claimed: 2])

            bench["second"].answer(.ok)
            bench.clock.advance(by: .seconds(5))
            #expect(await bench.dispatch().delivered == 2)
        }
    }

    @Test func whatIsRefusedThreeTimesIsDeadAndCanBeRetried() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let (sink, clock) = (bench["first"], bench.clock)
            sink.script(.refused, .refused, .refused)
            await bench.fetch(2)
            for wait in [1, 2] {
                let next = try #require(await bench.dispatch().next)
                #expect(next - clock.now == .seconds(wait))
                clock.advance(by: next - clock.now)
            }
            #expect(await bench.dispatch().dead == 2)

            let dead = try await bench.rows(.dead)
            #expect(dead.map(\.attempts) == [3, 3])
            #expect(try await bench.agent.perform(ControlAPI.showOutboxRow, dead[0].id).state == .dead)
            #expect(await bench.agent.state().reasons.contains("dead_letters"))
            #expect(await bench.sample(#"starwatch_outbox_rows{state="dead"}"#) == "2")
            #expect(try await bench.imbalance() == 0)
            clock.advance(by: .seconds(3600))
            await bench.dispatch()
            #expect(sink.seen.count == 3)

            #expect(
                try await bench.agent.perform(ControlAPI.retryOutbox, RowSelection(ids: dead.map(\.id))).changed == 2
            )
            #expect(try await bench.counts() == [.pending: 2])
            #expect(await bench.dispatch().delivered == 2)
            #expect(sink.seen.count == 4)
            #expect(try await bench.counts() == [.delivered: 2])
            #expect(try await bench.imbalance() == 0)
        }
    }

    /// It may be all that the person looks at, so that it is told, and can be made good.
    @Test func whatOneSinkRefusedIsDeadThoughAnotherTookIt() async throws {
        try await Bench.run(sinks: ["first", "second"]) { bench async throws in
            bench["second"].answer(.refused)
            await bench.fetch(1)
            for _ in 0..<3 {
                await bench.dispatch()
                bench.clock.advance(by: .seconds(10))
            }
            #expect(bench["second"].seen.count == 3)
            #expect(bench["first"].seen.count == 1)
            #expect(try await bench.counts() == [.dead: 1])

            bench["second"].answer(.ok)
            #expect(try await bench.agent.perform(ControlAPI.retryOutbox, RowSelection(allOf: nil)).changed == 1)
            #expect(await bench.dispatch().delivered == 1)
            #expect(bench["second"].seen.count == 4)
            #expect(Set(bench["second"].seen.map(\.id)).count == 1)
            #expect(bench["first"].seen.count == 1)
            #expect(try await bench.counts() == [.delivered: 1])
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func theNumberOfTriesIsConfigured() async throws {
        try await Bench.run(sinks: ["first"], configure: { options, _, _ in options.outbox.maxRetries = 1 }) {
            bench async throws in
            bench["first"].answer(.refused)
            await bench.fetch(1)
            #expect(await bench.dispatch().dead == 1)
        }
    }

    @Test func whatIsDiscardedIsCancelledForGood() async throws {
        try await Bench.run(sinks: ["first"], configure: { options, _, _ in options.outbox.maxRetries = 1 }) {
            bench async throws in
            bench["first"].script(.refused)
            await bench.fetch(1)
            await bench.dispatch()
            let dead = try await bench.rows(.dead).map(\.id)
            #expect(
                try await bench.agent.perform(ControlAPI.discardOutbox, DiscardSelection(RowSelection(ids: dead)))
                    .changed == 1
            )
            #expect(try await bench.counts() == [.cancelled: 1])
            await #expect(throws: ControlError.self) {
                try await bench.agent.perform(ControlAPI.retryOutbox, RowSelection(ids: dead)).changed
            }
            await bench.dispatch()
            #expect(bench["first"].seen.count == 1)
            #expect(try await bench.imbalance() == 0)
        }
    }

    @Test func aSinkThatIsGoneIsLeftToTheOthers() async throws {
        try await Bench.run(sinks: ["first", "second"]) { bench async throws in
            bench["second"].script(.gone)
            await bench.fetch(1)
            #expect(await bench.dispatch().delivered == 1)
            #expect(bench.slot("second").isDisabled)
            await bench.fetch(1)
            #expect(await bench.dispatch().delivered == 1)
            #expect(bench["first"].seen.count == 2)
            #expect(bench["second"].seen.count == 1)
        }
    }

    @Test func whatWasMadeBeforeASinkWasGoneIsNotTriedAgain() async throws {
        try await Bench.run(sinks: ["first", "second"]) { bench async throws in
            bench["second"].script(.unavailable(SinkFailure("down", .program), retryAfter: nil), .gone)
            await bench.fetch(1)
            await bench.dispatch()
            bench.clock.advance(by: .seconds(60))
            await bench.fetch(1)
            await bench.dispatch()
            #expect(bench.slot("second").isDisabled)
            bench.clock.advance(by: .seconds(600))
            await bench.dispatch()
            #expect(bench["second"].seen.count == 2)
            #expect(try await bench.counts() == [.delivered: 2])
        }
    }

    @Test func rowsStayPendingWhereNoSinkIsLeftUntilAReload() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            bench["first"].script(.gone)
            await bench.fetch(2)
            await bench.dispatch()
            #expect(try await bench.counts() == [.pending: 2])
            bench.clock.advance(by: .seconds(3600))
            await bench.dispatch()
            #expect(bench["first"].seen.count == 1)
            #expect(try await bench.imbalance() == 0)

            try await bench.restart()
            #expect(await bench.dispatch().delivered == 2)
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func aSinkThatHangsDoesNotHoldTheOther() async throws {
        try await Bench.run(sinks: ["first", "second"]) { bench async throws in
            let (release, delivered) = (Signal(), Signal())
            bench["first"].before { _ in await release.wait() }
            bench["second"].before { _ in delivered.raise() }
            await bench.fetch(1)
            let dispatcher = bench.dispatcher
            async let pass = dispatcher.pass()
            await delivered.wait()
            #expect(bench["second"].seen.count == 1)
            release.raise()
            #expect(await pass.delivered == 1)
        }
    }

    @Test func aSinkIsNeverAskedBeforeTheTimeItNamed() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let (sink, clock) = (bench["first"], bench.clock)
            sink.script(.unavailable(SinkFailure("The sink is busy.", .program), retryAfter: .seconds(30)))
            await bench.fetch(1)
            #expect(await bench.dispatch().next == clock.now + .seconds(30))
            clock.advance(by: .seconds(10))
            // A new notification must wait too.
            await bench.fetch(1)
            await bench.dispatch()
            #expect(sink.seen.count == 1)
            clock.advance(by: .milliseconds(19_999))
            await bench.dispatch()
            #expect(sink.seen.count == 1)
            clock.advance(by: .milliseconds(1))
            #expect(await bench.dispatch().delivered == 2)
            #expect(sink.seen.count == 3)
        }
    }

    @Test func aTrialThatIsGivenUpLeavesTheSinkToTheNextOne() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let (sink, clock, dispatcher) = (bench["first"], bench.clock, bench.dispatcher)
            sink.answer(.down)
            await bench.fetch(1)
            for _ in 0..<5 {
                let next = try #require(await bench.dispatch().next)
                clock.advance(by: next - clock.now)
            }
            #expect(bench.slot("first").circuit.state == .open)
            sink.before { _ in try? await clock.sleep(for: .seconds(1000)) }
            async let pass = dispatcher.pass()
            await clock.sleepers(atLeast: 1)
            await dispatcher.abort()
            _ = await pass
            sink.before(nil)
            sink.answer(.ok)
            clock.advance(by: DispatchService.lease)
            #expect(await bench.dispatch().delivered == 1)
        }
    }

    @Test func oneThatASinkNeverTakesDoesNotKeepTheOthersFromIt() async throws {
        try await Bench.run(sinks: ["first"]) { bench async throws in
            let sink = bench["first"]
            sink.answer(.down)
            await bench.fetch(1)
            for _ in 0..<6 {
                let next = try #require(await bench.dispatch().next)
                bench.clock.advance(by: next - bench.clock.now)
            }
            let poisoned = try #require(sink.seen.first?.id)
            // From now on it fails for that one only.
            sink.answer(.ok)
            sink.before { notification in
                if notification.id == poisoned { sink.script(.down) }
            }
            await bench.fetch(1)
            for _ in 0..<4 {
                let next = try #require(await bench.dispatch().next)
                bench.clock.advance(by: max(.zero, next - bench.clock.now))
            }
            #expect(try await bench.counts() == [.claimed: 1, .delivered: 1])
            #expect(Set(sink.seen.map(\.id)).count == 2)
        }
    }

    /// Its lease is ours for two minutes, in which nobody else would deliver it.
    @Test func whatWasClaimedBeforeTheDatabaseFailedIsDelivered() async throws {
        try await World.with(.canonical) { world in
            let claims = Mutex(0)
            var dependencies = AgentDependencies()
            dependencies.store = { options in
                options.interrupt = { (operation, moment) throws(StoreError) in
                    if operation == .claim, moment == .ended { claims.withLock { $0 += 1 } }
                    // The first looks for what is open; the second has claimed.
                    if operation == .read, moment == .begun, claims.withLock({ $0 == 2 }) { throw StoreError.busy }
                }
            }
            let agent = try await world.agent(dependencies: dependencies) { $0.polls[0].bootstrap = .beginning }
            world.mock.publish(count: 1)
            #expect(await agent.cycle().new == 1)
            _ = await agent.runtime.dispatcher.pass()
            #expect(claims.withLock { $0 } == 2)
            #expect(try world.notifications.count == 1)
        }
    }

    @Test func theChangesOfAPollAreDeliveredIfThoseOfFormerPollsCannotBeRead() async throws {
        try await World.with(.canonical) { world in
            let claims = Mutex(0)
            let reads = Mutex(0)
            var dependencies = AgentDependencies()
            dependencies.store = { options in
                options.interrupt = { (operation, moment) throws(StoreError) in
                    if operation == .claim, moment == .ended { claims.withLock { $0 += 1 } }
                    // The first claim looks for what is open. Then the poll's rows are counted, before anything else is read.
                    guard operation == .read, moment == .begun, claims.withLock({ $0 > 0 }) else { return }
                    let count = reads.withLock { reads in
                        reads += 1
                        return reads
                    }
                    if count > 1 { throw StoreError.busy }
                }
            }
            let agent = try await world.agent(dependencies: dependencies) { $0.polls[0].bootstrap = .beginning }
            world.mock.publish(count: 1)
            #expect(await agent.cycle().new == 1)
            _ = await agent.runtime.dispatcher.pass()
            #expect(reads.withLock { $0 } > 1)
            #expect(try world.notifications.count == 1)
        }
    }
}
