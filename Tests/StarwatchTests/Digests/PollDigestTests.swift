import MockEndorser
import StarwatchCore
import StarwatchStore
import StarwatchTelemetry
import Synchronization
import Testing

@testable import Starwatch

/// Digests of what a poll has found (R-DUAL-06).
@Suite struct PollDigestTests {
    private static func run(
        digest configure: (inout DigestOptions) -> Void = { _ in },
        _ body: (Bench) async throws -> Void
    ) async throws {
        try await DigestBench.run(
            digest: { digest, _ in
                var other = DigestOptions(name: digest.name, poll: PollName("starred_projects")!)
                other.times = digest.times
                other.timezone = digest.timezone
                other.title = digest.title
                other.body = "{{count}} of {{projects}}: {{names}}"
                configure(&other)
                digest = other
            },
            body
        )
    }

    @Test func thePollRunsALeadBeforeTheTimeAndItsChangesAreShown() async throws {
        try await Self.run { bench async throws in
            await bench.settle()
            #expect(bench.mock.requestCount(of: .plansChanged) == 1)
            let plans = bench.mock.planIDs
            bench.mock.publish([
                MockChange(planID: plans[0], name: "Rose"), MockChange(planID: plans[1], name: "Elm"),
            ])
            bench.clock.advance(by: .seconds(1))
            bench.mock.publish([MockChange(planID: plans[0], name: "Rose Garden")])
            bench.move(to: "12:54")
            await bench.settle()
            #expect(bench.mock.requestCount(of: .plansChanged) == 1)
            bench.move(to: "12:55")
            await bench.settle()
            #expect(bench.mock.requestCount(of: .plansChanged) == 2)
            #expect(bench.count(.fetched) == 2)
            await bench.show(at: "13:00")
            let shown = try #require(bench["phone"].seen.first { $0.poll == "daily" })
            #expect(shown.body == "3 of 2: Rose Garden, Elm")
            // The changes are announced and acknowledged as ever.
            #expect(bench["phone"].seen.contains { $0.poll == "starred_projects" && $0.count == 3 })
        }
    }

    @Test func aDigestOfAPollThatIsSwitchedOffIsNeitherFetchedNorMissed() async throws {
        try await Self.run { bench async throws in
            await bench.settle()
            _ = try await bench.agent.perform(ControlAPI.chooseKind, KindChoice(kind: .starredProjects, optedOut: true))
            for time in ["12:55", "13:00", "13:30"] { await bench.show(at: time) }
            #expect(daily(bench).isEmpty && bench.count(.refused) == 0)
            #expect(try await bench.agent.perform(ControlAPI.listDigests).digests.first?.occurrences.isEmpty == true)
            _ = try await bench.agent.perform(
                ControlAPI.chooseKind,
                KindChoice(kind: .starredProjects, optedOut: false)
            )
            await bench.settle()
            let rows = try await bench.stored()
            #expect(
                rows.map(\.row.status) == [.scheduled]
                    && rows.map(\.row.occurrence.fireAt) == [DigestBench.day + .days(1)]
            )
        }
    }

    /// Rows found by a fetch are stored after the lead begins and belong only to their own occurrence.
    @Test func whatOneOccurrenceHasListedIsNotInTheNext() async throws {
        try await Self.run { bench async throws in
            bench.mock.publish([MockChange(planID: bench.mock.planIDs[0], name: "Rose")])
            bench.move(to: "12:55")
            await showDaily(bench)
            bench.mock.publish([MockChange(planID: bench.mock.planIDs[1], name: "Elm")])
            bench.clock.advance(by: .seconds(3600))
            // By hand too it lists what came since, and leaves it to the next occurrence.
            #expect(try await bench.agent.fetchNow(DigestBench.name))
            bench.clock.advance(by: .days(1) - .seconds(3900))
            await showDaily(bench)
            bench.clock.advance(by: .days(1) - .seconds(300))
            await showDaily(bench)
            #expect(daily(bench) == ["1 of 1: Rose", "1 of 1: Elm", "0 of 0: "])
        }
    }

    @Test func whatAFetchThatFailedDidNotListIsInTheNext() async throws {
        try await Self.run { bench async throws in
            bench.move(to: "12:55")
            await showDaily(bench)
            bench.mock.publish([MockChange(planID: bench.mock.planIDs[0], name: "Rose")])
            bench.clock.advance(by: .seconds(3600))
            await bench.poll()
            bench.mock.setStickyFault(.status(400), at: .plansChanged)
            bench.clock.advance(by: .days(1) - .seconds(3900))
            await showDaily(bench)
            bench.mock.setStickyFault(nil, at: .plansChanged)
            bench.mock.publish([MockChange(planID: bench.mock.planIDs[1], name: "Elm")])
            bench.clock.advance(by: .days(1) - .seconds(300))
            await showDaily(bench)
            #expect(daily(bench).last == "2 of 2: Elm, Rose")
        }
    }

    /// Its cycle may be the schedule's, which has all the time that it needs.
    @Test func aFetchThatIsOutOfTimeDoesNotEndThePollsCycle() async throws {
        try await Self.run { bench async throws in
            await bench.settle()
            bench.mock.publish([MockChange(planID: bench.mock.planIDs[0], name: "Rose")])
            bench.mock.script(.status(500), .status(500), at: .plansChanged)
            let agent = bench.agent
            async let isFetched = try? agent.fetchNow(DigestBench.name)
            // Of the wait for the content, and of the cycle before it asks again.
            await bench.clock.sleepers(atLeast: 2)
            bench.clock.advance(by: DigestFetcher.timeout)
            #expect(await isFetched == nil)
            #expect(bench.count(.timeout) == 1)
            let poll = agent.runtime.polls[0]
            let running = agent.runtime.pollService.track(poll).state.withLock(\.running)
            let cycle = try #require(running)
            await bench.clock.sleepers(atLeast: 1)
            bench.clock.advance(by: .seconds(60))
            #expect(await cycle.value?.outcome == .changed)
            #expect(agent.metrics.polls.attempts[poll.label].value == 2)
        }
    }

    /// Shows the digest whose lead has just begun.
    private func showDaily(_ bench: Bench) async {
        bench.clock.advance(by: .milliseconds(50))
        await bench.settle()
        bench.clock.advance(by: .seconds(300) - .milliseconds(50))
        await bench.arm()
        await bench.dispatch()
    }

    private func daily(_ bench: Bench) -> [String] {
        bench["phone"].seen.filter { $0.poll == "daily" }.map(\.body)
    }

    @Test(arguments: [EmptyContent.show, .skip])
    func withoutChangesThereIsNothingOrZero(onEmpty: EmptyContent) async throws {
        try await Self.run(digest: { $0.onEmpty = onEmpty }) { bench async throws in
            bench.move(to: "12:55")
            await bench.settle()
            await bench.show(at: "13:00")
            #expect(bench["phone"].seen.map(\.body) == (onEmpty == .show ? ["0 of 0: "] : []))
        }
    }

    @Test func aPollThatFailsLeavesWhatThereWas() async throws {
        try await Self.run { bench async throws in
            bench.mock.publish([MockChange(planID: bench.mock.planIDs[0], name: "Rose")])
            await bench.settle()
            bench.mock.setStickyFault(.status(400), at: .plansChanged)
            bench.move(to: "12:55")
            await bench.settle()
            #expect(bench.count(.unreachable) == 1)
            await bench.show(at: "13:00")
            let shown = try #require(bench["phone"].seen.first { $0.poll == "daily" })
            #expect(shown.body == "1 of 1: Rose (as of 2026-01-01 12:00)")
        }
    }

    private static func change(of plan: String, named name: String?) -> Change {
        Change(id: JWTID("1704067200_abc123_def45600")!, plan: plan, name: name)
    }

    @Test func whoseChangesAreManyNamesTheLastProjectsAndTheHostsNamesComeFirst() {
        let found = (1...7).map { Self.change(of: "plan\($0)", named: "Project \($0)") }
        let changes = PollContent.Changes(found + [found[0]], hostNames: ["plan2": "Ours"])
        #expect(changes.count == 8 && changes.projects == 7)
        #expect(changes.names == "Project 1, Ours, Project 3, Project 4, Project 5 …")
    }

    @Test func whoseProjectsHaveNoNameAreCountedAndLeftOpen() {
        let found = [Self.change(of: "plan1", named: "Rose"), Self.change(of: "plan2", named: nil)]
        #expect(PollContent.Changes(found, hostNames: [:]).names == "Rose …")
    }

    @Test func namesDoNotTurnTheTextAroundThem() {
        let found = [Self.change(of: "plan1", named: "\u{202E}גן"), Self.change(of: "plan2", named: "Rose")]
        #expect(PollContent.Changes(found, hostNames: [:]).names == "\u{2068}גן\u{2069}, Rose")
    }

    @Test func aDigestComesWithinItsWindowAtTheSameMomentEveryDay() async throws {
        try await Self.run(digest: { $0.window = .seconds(600) }) { bench async throws in
            let installation = try await bench.agent.store.identity.installation().instanceID
            let delay = Splay.delay(instance: installation, poll: PollName(DigestBench.name), within: .seconds(600))
            bench.clock.advance(by: DigestBench.day + delay - .seconds(300) - bench.clock.now)
            for day in 0..<2 {
                await bench.settle()
                bench.clock.advance(by: .seconds(299))
                await bench.arm()
                await bench.dispatch()
                #expect(daily(bench).count == day)
                bench.clock.advance(by: .seconds(1))
                await bench.arm()
                await bench.dispatch()
                #expect(daily(bench).count == day + 1)
                bench.clock.advance(by: .days(1) - .seconds(300))
            }
        }
    }
}
