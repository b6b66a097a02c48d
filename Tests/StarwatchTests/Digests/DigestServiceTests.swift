import Foundation
import MockEndorser
import StarwatchCore
import StarwatchStore
import Testing

@testable import Starwatch

@Suite struct DigestServiceTests {
    @Test func aDigestIsFetchedBeforeItsTimeAndShownAtIt() async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            // At the start there is no content, so it is fetched once.
            await bench.settle()
            #expect(bench.contentRequests.count == 1)
            #expect(try await bench.stored().first?.row.arming?.text == .cached(ManualClock.start))
            bench.mock.content = #"{"count": 5, "who": "Ada"}"#
            bench.move(to: "12:54")
            await bench.settle()
            #expect(bench.contentRequests.count == 1)
            bench.move(to: "12:55")
            await bench.settle()
            #expect(bench.contentRequests.count == 2)
            #expect(bench.contentRequests.last?.header("If-None-Match") != nil)
            bench.move(to: "13:00")
            let pass = await bench.arm()
            #expect(pass.fired == 1)
            await bench.dispatch()
            let shown = try #require(bench["phone"].seen.first)
            #expect(shown.title == "Daily" && shown.body == "5 new for Ada")
            #expect(shown.poll == "daily" && shown.count == 1)
            #expect(await bench.arm().shown == 1)
            // Nothing was fetched at its time.
            #expect(bench.contentRequests.count == 2)
            #expect(bench["phone"].seen.count == 1)
            #expect(bench.count(.shown) == 1)
            #expect(bench.count(.fetched) == 2)
            #expect(await bench.sample("starwatch_digest_lateness_seconds_count") == "1")
            let rows = try await bench.stored()
            #expect(rows.first?.row.status == .shown && rows.first?.finishedAt == bench.clock.now)
        }
    }

    @Test func contentThatIsConfirmedIsAsYoungAsNew() async throws {
        try await DigestBench.run(digest: { digest, _ in digest.ttl = .seconds(600) }) { (bench: Bench) async throws in
            await bench.settle()
            bench.move(to: "12:55")
            await bench.settle()
            #expect(bench.count(.notModified) == 1)
            await bench.show(at: "13:00")
            #expect(bench["phone"].seen.first?.body == "3 new for Ada")
        }
    }

    @Test(arguments: [DigestFallback.cached, .fallback, .skip])
    func aFailedFetchLeavesWhatOnMissingSays(onMissing: DigestFallback) async throws {
        try await DigestBench.run(digest: { digest, _ in digest.onMissing = onMissing }) {
            (bench: Bench) async throws in
            await bench.settle()
            bench.mock.setStickyFault(.status(500), at: .content)
            bench.move(to: "12:55")
            await bench.settle()
            await bench.settle()
            // One attempt, whatever comes of it.
            #expect(bench.count(.refused) == 1)
            await bench.show(at: "13:00")
            await bench.arm()
            if onMissing == .skip {
                #expect(bench["phone"].seen.isEmpty && bench.count(.skippedStale) == 1)
                #expect(try await bench.stored().first?.code == .noContent)
            } else {
                #expect(bench["phone"].seen.first?.body == "3 new for Ada (as of 2026-01-01 12:00)")
            }
        }
    }

    @Test func whatWasShownTheDayBeforeIsYoungEnoughToStandInForAFailedFetch() async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            await bench.settle()
            bench.move(to: "12:55")
            await bench.settle()
            await bench.show(at: "13:00")
            #expect(await bench.arm().shown == 1)
            bench.mock.setStickyFault(.status(500), at: .content)
            bench.clock.advance(by: .days(1) - .seconds(300))
            await bench.settle()
            #expect(bench.count(.refused) == 1)
            bench.clock.advance(by: .seconds(300))
            await bench.arm()
            await bench.dispatch()
            #expect(await bench.arm().shown == 1)
            #expect(bench["phone"].seen.last?.body == "3 new for Ada (as of 2026-01-01 12:55)")
        }
    }

    @Test(
        arguments: [
            (["08:00"], nil, 25 * 3600 + 312), (["08:00", "20:00"], nil, 24 * 3600 + 312),
            (["08:00", "08:30"], nil, 24 * 3600 + 1800 + 312), (["08:00"], .days(1), 24 * 3600),
        ] as [([String], Duration?, Int)]
    )
    func contentMayBeAsOldAsThatOfTheTimeBeforeUnlessItIsSaid(times: [String], ttl: Duration?, seconds: Int) {
        var digest = DigestOptions(name: DigestBench.name, fetch: FetchOptions(url: "https://example.org"))
        digest.times = times.compactMap { DayTime($0) }
        digest.ttl = ttl
        #expect(digest.longestAge == .seconds(seconds))
    }

    @Test(arguments: [(DigestFallback.cached, nil), (.fallback, "Open the app")] as [(DigestFallback, String?)])
    func contentThatIsTooOldAtTheTimeIsNotShown(onMissing: DigestFallback, body: String?) async throws {
        try await DigestBench.run(digest: { digest, _ in
            digest.ttl = .seconds(1800)
            digest.onMissing = onMissing
        }) { (bench: Bench) async throws in
            await bench.settle()
            bench.mock.setStickyFault(.resetBeforeHead, at: .content)
            bench.move(to: "12:55")
            await bench.settle()
            #expect(bench.count(.unreachable) == 1)
            await bench.show(at: "13:00")
            await bench.arm()
            #expect(bench["phone"].seen.first?.body == body)
            if body == nil {
                #expect(bench.count(.skippedStale) == 1)
                #expect(try await bench.stored().first?.code == .stale)
            }
        }
    }

    @Test(arguments: [
        (MockFault.malformedJSON, DigestPrefetchOutcome.malformed), (.status(200, body: "[1]"), .malformed),
        (.oversizedBody(bytes: 300_000, declaresLength: true), .malformed), (.status(304), .refused),
        (.redirect(to: "http://127.0.0.1:1/"), .refused), (.status(404), .refused),
    ])
    func whatIsNotContentIsNotStored(fault: MockFault, outcome: DigestPrefetchOutcome) async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            bench.mock.setStickyFault(fault, at: .content)
            await bench.settle()
            #expect(bench.count(outcome) == 1)
            let source = bench.digests.digests[0].source
            #expect(try await bench.agent.store.digests.content(source: source, account: Bench.did) == nil)
        }
    }

    @Test func aChainedDigestIsNotArmedBeforeItsFetchHasEnded() async throws {
        try await DigestBench.run(digest: { digest, _ in digest.mode = .chained }) { (bench: Bench) async throws in
            await bench.settle()
            #expect(try await bench.stored().map(\.row.arming) == [nil])
            bench.move(to: "12:55")
            let pass = await bench.digests.pass()
            #expect(try await bench.stored().map(\.row.arming) == [nil])
            for fetch in pass.fetches { await bench.digests.fetch(fetch) }
            _ = await bench.digests.pass()
            #expect(try await bench.stored().map(\.row.arming?.text) == [.fresh(bench.clock.now)])
        }
    }

    @Test func aPostSendsItsBodyItsHeadersAndTheTokenOfItsFile() async throws {
        try await DigestBench.run(digest: { digest, folder in
            digest.fetch.method = .post
            digest.fetch.body = #"{"kind":"daily"}"#
            digest.fetch.headers = ["X-Kind": "daily"]
            digest.fetch.tokenFile = try folder.write("t0ken\n", to: "token")
        }) { (bench: Bench) async throws in
            await bench.settle()
            let request = try #require(bench.contentRequests.first)
            #expect(request.method == "POST" && String(decoding: request.body, as: UTF8.self) == #"{"kind":"daily"}"#)
            #expect(request.header("X-Kind") == "daily" && request.header("Authorization") == "Bearer t0ken")
            try FileManager.default.removeItem(atPath: bench.folder.path("token"))
            bench.move(to: "12:55")
            await bench.settle()
            #expect(bench.count(.noToken) == 1)
            #expect(!bench.log.lines.joined().contains("t0ken"))
        }
    }

    @Test func anUnknownVariableStaysVisibleAndIsSaidOnce() async throws {
        try await DigestBench.run(digest: { digest, _ in digest.body = "{{typo}}" }) { (bench: Bench) async throws in
            await bench.settle()
            bench.mock.content = #"{"count": 4}"#
            bench.move(to: "12:55")
            await bench.settle()
            await bench.show(at: "13:00")
            #expect(bench["phone"].seen.first?.body == "{{typo}}")
            #expect(bench.log.lines.filter { $0.contains("digest.variable") }.count == 1)
        }
    }

    // MARK: - Sinks

    @Test func aDigestGoesToItsSinksAndNoOther() async throws {
        try await DigestBench.run(
            sinks: ["phone", "desk", "hall"],
            digest: { digest, _ in digest.sinks = ["desk", "hall"] }
        ) { (bench: Bench) async throws in
            await bench.settle()
            await bench.show(at: "13:00")
            #expect(bench["phone"].seen.isEmpty)
            #expect(bench["desk"].seen.count == 1)
            #expect(bench["desk"].seen == bench["hall"].seen)
        }
    }

    @Test func aSinkThatIsDownGetsTheSameDigestLaterAndUnderTheSameID() async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            bench["phone"].script(.down, .timeout, .ok)
            await bench.settle()
            bench.move(to: "13:00")
            await bench.arm()
            for _ in 0..<3 {
                await bench.dispatch()
                bench.clock.advance(by: .seconds(10))
            }
            #expect(bench["phone"].seen.count == 3 && Set(bench["phone"].seen).count == 1)
            #expect(await bench.arm().shown == 1)
        }
    }

    @Test func aSinkThatStaysDownDoesNotGetItWhenItsContentIsTooOld() async throws {
        try await DigestBench.run(digest: { digest, _ in digest.ttl = .seconds(7200) }) { (bench: Bench) async throws in
            bench["phone"].answer(.down)
            await bench.settle()
            await bench.show(at: "13:00")
            bench.clock.advance(by: .seconds(3600))
            await bench.dispatch()
            await bench.arm()
            #expect(bench.count(.skippedStale) == 0)
            bench.clock.advance(by: .seconds(3601))
            #expect(await bench.arm().missing == 1)
            let tries = bench["phone"].seen.count
            bench["phone"].answer(.ok)
            bench.clock.advance(by: .seconds(120))
            await bench.dispatch()
            #expect(bench["phone"].seen.count == tries)
            #expect(try await bench.stored().first { $0.row.isFired }?.code == .undelivered)
        }
    }

    @Test(arguments: [(SinkResult.refused, SlotCode.rejected), (.gone, .noSink)])
    func aDigestThatNoSinkTakesIsAnErrorAndSaysWhy(result: SinkResult, code: SlotCode) async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            bench["phone"].answer(result)
            await bench.settle()
            bench.move(to: "13:00")
            await bench.arm()
            for _ in 0..<3 {
                await bench.dispatch()
                bench.clock.advance(by: .seconds(60))
            }
            #expect(await bench.arm().missing == 1)
            #expect(bench.count(.error) == 1)
            #expect(try await bench.stored().first { $0.row.isFired }?.code == code)
        }
    }

    @Test func aDigestThatWaitsForItsSinkIsDueOnThePageOfMetrics() async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            let due = "starwatch_outbox_oldest_due_timestamp_seconds"
            await bench.settle()
            #expect(await bench.sample(due) == "0")
            bench.move(to: "13:00")
            await bench.arm()
            #expect(await bench.sample(due) == "\(DigestBench.day.wholeSeconds)")
            await bench.dispatch()
            #expect(await bench.sample(due) == "0")
        }
    }

    // MARK: - Restarts, identity, loop

    @Test(arguments: [false, true])
    func aDigestThatWasArmedOrFiredBeforeACrashComesUnderTheSameID(isFired: Bool) async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            await bench.settle()
            let token = try #require(try await bench.stored().first?.token)
            bench.move(to: isFired ? "13:00" : "12:58")
            await bench.settle()
            try await bench.restart()
            bench.move(to: "13:01")
            await bench.settle()
            await bench.dispatch()
            await bench.dispatch()
            #expect(bench["phone"].seen.map(\.id) == [token])
            #expect(await bench.arm().shown == 1)
            try await bench.restart()
            await bench.settle()
            await bench.dispatch()
            #expect(bench["phone"].seen.count == 1)
        }
    }

    @Test func whatWasMissedForLongerThanTheGraceIsRecordedAndNotShown() async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            await bench.settle()
            bench.move(to: "13:11")
            try await bench.restart()
            await bench.settle()
            await bench.dispatch()
            #expect(bench["phone"].seen.isEmpty)
            #expect(try await bench.stored().first { $0.row.status != .scheduled }?.code == .missed)
        }
    }

    @Test func aRestartWithinTheLeadMakesTheOneFetchOnlyIfItWasNotBegun() async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            await bench.settle()
            bench.move(to: "12:56")
            try await bench.restart()
            await bench.settle()
            #expect(bench.contentRequests.count == 2)
            try await bench.restart()
            await bench.settle()
            #expect(bench.contentRequests.count == 2)
        }
    }

    @Test func nothingOfAFormerIdentityIsShownOrFetchedAgain() async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            await bench.settle()
            bench.move(to: "12:55")
            bench.mock.script(.neverAnswer, at: .content)
            let pass = await bench.digests.pass()
            let fetch = try #require(pass.fetches.first)
            let service = bench.digests
            async let underWay = service.fetch(fetch)
            try await bench.mock.waitForRequests(2, to: .content)
            _ = try await bench.agent.setIdentity(World.other)
            #expect(await underWay == .cancelled)
            #expect(bench.count(.cancelled) == 1)
            #expect(try await bench.stored().isEmpty)
            let source = bench.digests.digests[0].source
            #expect(try await bench.agent.store.digests.content(source: source, account: Bench.did) == nil)
            #expect(try await bench.agent.store.digests.content(source: source, account: World.other) == nil)
            _ = try await bench.agent.setIdentity(nil)
            bench.move(to: "13:00")
            await bench.settle()
            await bench.dispatch()
            #expect(bench["phone"].seen.isEmpty)
        }
    }

    @Test func aFiredDigestOfAFormerIdentityIsNotDelivered() async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            await bench.settle()
            bench.move(to: "13:00")
            await bench.arm()
            _ = try await bench.agent.setIdentity(World.other)
            await bench.dispatch()
            await bench.settle()
            #expect(bench["phone"].seen.isEmpty && bench.count(.shown) == 0)
        }
    }

    @Test func aDigestThatIsNotConfiguredAnyMoreDoesNotCome() async throws {
        try await DigestBench.run { (bench: Bench) async throws in
            await bench.settle()
            await bench.agent.close()
            var options = bench.options
            options.digests = []
            let agent = try await Agent(options: options, time: bench.clock, logSinks: [bench.log])
            #expect(agent.runtime.digests == nil)
            #expect(
                try await agent.store.digests.state(of: Bench.did, since: bench.clock.now).rows.isEmpty
            )
            await agent.close()
        }
    }

    @Test func theLoopFiresOnTimeAndIsWokenByTheDispatcher() async throws {
        try await DigestBench.run(digest: { digest, _ in digest.onMissing = .fallback }) {
            (bench: Bench) async throws in
            bench.mock.setStickyFault(.status(500), at: .content)
            let (agent, clock, log, dispatcher) = (bench.agent, bench.clock, bench.log, bench.dispatcher)
            await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await agent.work(.digests) }
                while clock.now < DigestBench.day {
                    await clock.sleepers(atLeast: 1)
                    clock.advance(by: .seconds(30))
                }
                await log.wait(for: "digest.fired")
                _ = await dispatcher.pass()
                agent.runtime.wakes.digests.raise()
                await log.wait(for: "digest.shown")
                group.cancelAll()
            }
            #expect(bench["phone"].seen.first?.body == "Open the app")
            let fired = try #require(log.lines.first { $0.contains("digest.fired") })
            #expect(fired.contains("\"size_ms\":0"))
        }
    }

    @Test func aListTellsWhatComesAndWhatCame() async throws {
        try await DigestBench.run(digest: { digest, _ in digest.ttl = .days(1) }) { (bench: Bench) async throws in
            let before = try #require(try await bench.agent.perform(ControlAPI.listDigests).digests.first)
            #expect(before.occurrences.map(\.status) == ["planned"])
            #expect(before.contentAt == nil && before.timezone == "UTC")
            await bench.settle()
            await bench.show(at: "13:00")
            await bench.arm()
            let after = try #require(try await bench.agent.perform(ControlAPI.listDigests).digests.first)
            #expect(after.occurrences.map(\.status) == ["shown", "scheduled"])
            // A day later it would be too old, so nothing is armed before the next fetch.
            #expect(after.occurrences.map(\.text) == ["cached", nil])
        }
    }
}
