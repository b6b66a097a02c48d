import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// `explain` of what is not stored.
@Suite struct AbsenceTests {
    private func explain(_ bench: Bench, _ id: String) async throws -> Story {
        try await bench.agent.perform(ControlAPI.explain, id)
    }

    @Test func aClaimThatThePollHasPassedWasNotShown() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            await bench.fetch(1)
            let change = JWTID.floor(.timestamped, at: bench.clock.now - .seconds(60)).rawValue
            let story = try await explain(bench, change)
            #expect(story.kind == .absent)
            #expect(story.id.hasPrefix("chg_"))
            #expect(story.coverage?.map(\.reason) == [.passed])
            #expect(story.coverage?.first?.runID == "run_of_the_test")
        }
    }

    @Test func aClaimThatAFailedRunDidNotFetchNamesTheRun() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            await bench.fetch(1)
            bench.clock.advance(by: .seconds(600))
            let id = bench.mock.publish(count: 1)[0]
            bench.mock.script(.status(404), at: .plansChanged)
            await bench.poll()
            let covered = try #require(try await explain(bench, id).coverage?.first)
            #expect(covered.reason == .notFetched)
            #expect(covered.runOutcome == "failed")
            #expect(
                covered.sentence.hasPrefix("The poll has not come to it yet. Its last run: The server has no")
            )
        }
    }

    @Test func aClaimFromBeforeTheFirstRunWasThereBefore() async throws {
        try await Bench.run(
            sinks: ["hook"],
            configure: { options, _, _ in options.polls[0].bootstrap = .latest }
        ) { bench async throws in
            let old = JWTID.floor(.timestamped, at: bench.clock.now - .seconds(3600)).rawValue
            bench.mock.publish(count: 1)
            bench.clock.advance(by: .seconds(60))
            await bench.poll()
            #expect(try await explain(bench, old).coverage?.map(\.reason) == [.beforeStart])
        }
    }

    @Test(arguments: [
        (StarsChange(operation: .set, planIDs: []), "unstarred"),
        (StarsChange(operation: .optOut, planIDs: []), "opted_out"),
    ])
    func aSuppressedChangeSaysWhichSettingItWas(change: StarsChange, reason: String) async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            let id = await bench.fetch(1)[0]
            try await bench.agent.changeStars(change)
            let story = try await explain(bench, id)
            #expect(story.state == "suppressed")
            #expect(story.steps.last?.reason == reason)
            #expect(story.steps.last?.sentence == RowReason(rawValue: reason)?.sentence())
        }
    }

    @Test func aChangeOfTheFirstRunSaysThatItWasThereBefore() async throws {
        try await Bench.run(
            sinks: ["hook"],
            configure: { options, _, _ in options.polls[0].bootstrap = .latest }
        ) { bench async throws in
            let id = await bench.fetch(1)[0]
            let story = try await explain(bench, id)
            #expect(story.steps.last { $0.step == .suppressed }?.reason == "bootstrap")
        }
    }

    @Test func nobodySignedInIsTheReason() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            try await bench.agent.setIdentity(nil)
            let change = JWTID.floor(.timestamped, at: bench.clock.now).rawValue
            #expect(try await explain(bench, change).coverage?.map(\.reason) == [.signedOut])
        }
    }

    @Test func aTimeSaysWhichRunCoversIt() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            func run(_ id: String) async {
                _ = await bench.agent.runtime.pollService.pass(bench.agent.runtime.polls[0], runID: id)
            }
            await run("run_first")
            let between = bench.clock.now + .seconds(30)
            bench.clock.advance(by: .seconds(60))
            await run("run_second")
            let story = try await explain(bench, between.iso8601)
            #expect(story.kind == .time)
            #expect(story.coverage?.map(\.runID) == ["run_first"])
            #expect(try await explain(bench, bench.clock.now.iso8601).coverage?.map(\.runID) == ["run_second"])
        }
    }

    @Test func aProjectSaysWhetherItIsStarredAndHasItsRows() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            await bench.fetch(1)
            let row = try #require(try await bench.rows().first)
            let starred = try await explain(bench, row.plan)
            #expect(starred.kind == .project)
            #expect(starred.state == "starred")
            #expect(starred.rows?.map(\.row) == [row.id])
            let other = try await explain(bench, "https://endorser.ch/entity/01JWMKFMXGFJAQ5QFAJMD81J1Y")
            #expect(other.state == "not_starred")
            #expect(other.coverage?.map(\.reason) == [.notStarred])
        }
    }

    /// The server keeps only the last edition of a project, whose handle ends with the id of the first one.
    @Test func anEditionThatALaterOneReplacedIsNotBlamedOnTheStars() async throws {
        try await World.with(.endorser, plans: 0) { world in
            let first = JWTID.floor(.ulid, at: world.clock.now - .seconds(600))
            let plan = "https://endorser.ch/entity/\(first.rawValue)"
            world.mock.setPlanCatalogue([MockPlan(id: plan, name: "Garden", issuerDID: World.other.rawValue)])
            let agent = try await world.agent { options in
                options.polls[0].planIDs = [plan]
                options.polls[0].bootstrap = .beginning
            }
            world.mock.publish(count: 1)
            #expect(try await agent.runPoll(World.starred).new == 1)
            let covered = try await agent.perform(ControlAPI.explain, first.rawValue).coverage
            #expect(covered?.map(\.reason) == [.replaced])
            #expect(covered?.first?.sentence.hasSuffix("row 1.") == true)
            // Nothing tells whether another edition was there.
            let other = JWTID.floor(.ulid, at: world.clock.now - .seconds(300)).rawValue
            let unknown = try #require(try await agent.perform(ControlAPI.explain, other).coverage?.first)
            #expect(unknown.reason == .passed && unknown.sentence.contains("a later edition replaced it first"))
        }
    }

    @Test func anOfferIsNotBlamedOnTheStars() async throws {
        try await World.with(.endorser, plans: 1) { world in
            try world.folder.write(World.ethrKey, to: "key")
            let agent = try await world.agent { options in
                (options.auth.kind, options.auth.keyFile) = (.didKey, world.folder.path("key"))
                var poll = PollOptions(name: PollName("offers_to_me")!, kind: .offersToMe)
                poll.bootstrap = .beginning
                options.polls = [poll]
            }
            let handle = "https://endorser.ch/entity/\(JWTID.floor(.ulid, at: world.clock.now).rawValue)"
            let id = world.mock.publishOffer(handleID: handle, to: world.did.rawValue)
            #expect(try await agent.runPoll("offers_to_me").new == 1)
            let life = try await agent.perform(ControlAPI.explain, handle)
            #expect(life.kind == .change)
            #expect(try await agent.perform(ControlAPI.explain, id) == life)
            let other = JWTID.floor(.ulid, at: world.clock.now - .seconds(300)).rawValue
            let sentence = try #require(try await agent.perform(ControlAPI.explain, other).coverage?.first?.sentence)
            #expect(sentence.contains("no offer to the account") && !sentence.contains("star"))
        }
    }

    @Test func aDeletedRowIsSaidToBeDeleted() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            await bench.fetch(1)
            await bench.dispatch()
            await bench.acknowledge()
            // The newest row stays as long as the server can send it again.
            bench.clock.advance(by: .seconds(8 * 86_400))
            await bench.fetch(1)
            await bench.dispatch()
            await bench.acknowledge()
            _ = try await bench.agent.store.retention.apply(RetentionPolicy(), now: bench.clock.now)
            let error = await #expect(throws: ControlError.self) { try await explain(bench, "1") }
            #expect(error?.message.contains("outbox.keep_delivered") == true)
        }
    }
}
