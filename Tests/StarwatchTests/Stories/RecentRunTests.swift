import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

/// The last runs of each poll: what a run did that found nothing.
@Suite struct RecentRunTests {
    private func poll(_ bench: Bench, _ runID: String) async {
        _ = await bench.agent.runtime.pollService.pass(bench.agent.runtime.polls[0], runID: runID)
    }

    private func story(_ bench: Bench, _ id: String) async throws -> Story {
        try await bench.agent.perform(ControlAPI.explain, id)
    }

    @Test func anUnchangedRunSaysWhatTheServerAnswered() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            await bench.fetch(1)
            bench.clock.advance(by: .seconds(60))
            await poll(bench, "run_quiet")
            let story = try await story(bench, "run_quiet")
            #expect(story.state == "unchanged")
            #expect(story.poll == "starred_projects")
            try #require(story.steps.map(\.step) == [.started, .fetched, .finished])
            #expect(story.steps[1].result == "http_200")
            #expect(story.steps[1].requestID == bench.mock.requests(to: .plansChanged).last?.header("X-Request-ID"))
            #expect(story.steps[2].requests == 1)
            #expect(story.steps[2].count == 0)
        }
    }

    @Test func aFailedAndASkippedRunSayWhy() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            bench.mock.script(.status(404), at: .plansChanged)
            await poll(bench, "run_failed")
            let failed = try await story(bench, "run_failed")
            #expect(failed.state == "failed")
            #expect(failed.steps.map(\.result) == [nil, "http_404", "failed"])
            #expect(failed.steps.last?.reason?.hasPrefix("http_404") == true)
            try await bench.agent.setIdentity(nil)
            await poll(bench, "run_skipped")
            let skipped = try await story(bench, "run_skipped")
            #expect(skipped.state == "skipped")
            #expect(skipped.steps.last?.reason == "no_identity")
            #expect(skipped.steps.last?.sentence == "Skipped: no identity is signed in.")
        }
    }

    @Test func theRunsOfAnAgentThatEndedAreKnown() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            await poll(bench, "run_quiet")
            let before = try await story(bench, "run_quiet")
            try await bench.restart()
            #expect(try await story(bench, "run_quiet") == before)
        }
    }

    @Test func theLogOfARunWithoutLinesSaysWhatTheRunWas() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            await poll(bench, "run_quiet")
            var query = LogQuery()
            query.run = "run_quiet"
            let found = try await bench.agent.perform(ControlAPI.listLogs, query)
            #expect(found.lines.isEmpty)
            #expect(found.note?.contains("unchanged. See starwatch explain run_quiet.") == true)
            query.run = "run_other"
            #expect(try await bench.agent.perform(ControlAPI.listLogs, query).note == nil)
        }
    }

    @Test func onlyTheNewestRunsOfAPollAreKept() {
        let runs = RecentRuns()
        for number in 0..<(RecentRuns.capacity + 10) {
            let time = Timestamp(seconds: Int64(number))
            runs.add(
                RecentRun(
                    runID: "run_\(number)",
                    poll: PollName("news")!,
                    startedAt: time,
                    finishedAt: time,
                    outcome: "unchanged"
                )
            )
        }
        #expect(runs.all.count == RecentRuns.capacity)
        #expect(runs.all.map(\.startedAt).min() == 10_000)
    }

    @Test func theDatabaseKeepsTheNewestRunsOfEachPoll() async throws {
        try await Bench.run(sinks: ["hook"]) { bench async throws in
            func run(_ poll: String, _ number: Int) -> RecentRun {
                let time = Timestamp(seconds: Int64(number))
                return RecentRun(
                    runID: "run_\(poll)_\(number)",
                    poll: PollName(poll)!,
                    startedAt: time,
                    finishedAt: time,
                    outcome: "unchanged"
                )
            }
            let stories = bench.agent.store.stories
            try await stories.keep((0...StoreStories.keptRuns).map { run("news", $0) } + [run("offers", 0)])
            #expect(try await stories.storedRun("run_news_0") == nil)
            #expect(try await stories.storedRun("run_news_1") == run("news", 1))
            #expect(try await stories.storedRun("run_offers_0") == run("offers", 0))
        }
    }
}
