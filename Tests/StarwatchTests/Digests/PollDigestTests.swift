import MockEndorser
import StarwatchCore
import StarwatchStore
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
            bench.move(to: "13:00")
            await bench.arm()
            await bench.dispatch()
            let shown = try #require(bench["phone"].seen.first { $0.poll == "daily" })
            #expect(shown.body == "3 of 2: Rose Garden, Elm")
            // The changes are announced and acknowledged as ever.
            #expect(bench["phone"].seen.contains { $0.poll == "starred_projects" && $0.count == 3 })
        }
    }

    @Test func onlyWhatCameSinceTheTimeBeforeIsShown() async throws {
        try await Self.run { bench async throws in
            bench.mock.publish([MockChange(planID: bench.mock.planIDs[0], name: "Rose")])
            await bench.poll()
            bench.move(to: "12:55")
            await bench.settle()
            bench.move(to: "13:00")
            await bench.arm()
            await bench.dispatch()
            bench.mock.publish([MockChange(planID: bench.mock.planIDs[1], name: "Elm")])
            bench.clock.advance(by: .days(1) - .seconds(300))
            await bench.settle()
            bench.clock.advance(by: .seconds(300))
            await bench.arm()
            await bench.dispatch()
            let shown = bench["phone"].seen.filter { $0.poll == "daily" }.map(\.body)
            #expect(shown == ["1 of 1: Rose", "1 of 1: Elm"])
        }
    }

    @Test(arguments: [EmptyContent.show, .skip])
    func withoutChangesThereIsNothingOrZero(onEmpty: EmptyContent) async throws {
        try await Self.run(digest: { $0.onEmpty = onEmpty }) { bench async throws in
            bench.move(to: "12:55")
            await bench.settle()
            bench.move(to: "13:00")
            await bench.arm()
            await bench.dispatch()
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
            bench.move(to: "13:00")
            await bench.arm()
            await bench.dispatch()
            let shown = try #require(bench["phone"].seen.first { $0.poll == "daily" })
            #expect(shown.body == "1 of 1: Rose (as of 2026-01-01 12:00)")
        }
    }

    @Test func whoseChangesAreManyNamesTheLastProjectsAndTheHostsNamesComeFirst() {
        let found = (1...7).map { FoundChange(plan: "plan\($0)", name: "Project \($0)") }
        let changes = PollContent.Changes(found + [found[0]], hostNames: ["plan2": "Ours"])
        #expect(changes.count == 8 && changes.projects == 7)
        #expect(changes.names == "Project 1, Ours, Project 3, Project 4, Project 5 …")
    }

    @Test func aDigestComesWithinItsWindowAtTheSameMomentEveryDay() async throws {
        try await Self.run(digest: { $0.window = .seconds(600) }) { bench async throws in
            let plan = bench.digests.digests[0].plan
            #expect(plan.delay >= .zero && plan.delay < .seconds(600))
            let installation = try await bench.agent.store.installation().instanceID
            #expect(plan.delay == Splay.delay(instance: installation, poll: plan.name, within: .seconds(600)))
            await bench.settle()
            #expect(try await bench.stored().map(\.row.occurrence.fireAt) == [DigestBench.day + plan.delay])
        }
    }
}
